package pages

import (
	"net/http"
	"strings"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/domains"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func domainsPath(p rules.Project) string { return projectPath(p.Name) + "/domains" }

func domainPath(p rules.Project, d domains.Domain) string { return domainsPath(p) + "/" + d.ID }

func domainsCrumb(p rules.Project) ui.Crumb { return ui.Crumb{Text: "Host names", URL: domainsPath(p)} }

func (h *Handler) showDomains(v *visit) (web.Answer, error) {
	return h.domainsWith(v, domains.Input{}, &formErrors{})
}

// domainsWith shows a project's host names, with the form as typed.
func (h *Handler) domainsWith(v *visit, typed domains.Input, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	list := &listing{
		path:   domainsPath(p),
		one:    "host name",
		search: "Host name",
		orders: []listOrder{{by: "host"}},
		filters: []listFilter{{name: "state", title: "State", options: []ui.Option{
			{Value: string(domains.Verified), Title: "Verified"},
			{Value: string(domains.Pending), Title: "Pending"},
			{Value: string(domains.Missing), Title: "Record missing"},
		}}},
	}
	list.read(v)
	found, err := h.Domains.List(v.ctx(), v.who, p.ID, domains.State(list.get("state")), list.page())
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Domains{
		Page: v.shell("Host names", domainsPath(p), projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Host names"}),
		Head: v.headOf(p),
		List: listView(list, found),
	}
	for _, d := range found.Items {
		m.Rows = append(m.Rows, projects.DomainRow{
			URL:   domainPath(p, d),
			Host:  d.Host,
			Place: d.Version + "/" + d.Environment,
			State: domainBadge(d),
		})
	}
	if v.mayChange(p, access.DomainChange) {
		m.Add = &projects.DomainAdd{
			Open:         wrong.status != 0,
			Action:       domainsPath(p),
			Host:         wrong.value("/host", typed.Host),
			Environments: environmentOptions(p, typed.Environment),
		}
		m.Add.Error = wrong.rest()
	} else {
		m.Note = "You are a viewer of this team. Members and owners can add host names."
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.DomainsPage(m)}, nil
}

func domainBadge(d domains.Domain) ui.Badge {
	switch d.State {
	case domains.Verified:
		return ui.Badge{Tone: ui.Good, Text: "verified"}
	case domains.Missing:
		return ui.Badge{Tone: ui.Warn, Text: "record missing"}
	}
	return ui.Badge{Text: "pending"}
}

// environmentOptions lists the environments of all versions, by their ids.
func environmentOptions(p rules.Project, chosen string) []ui.Option {
	var out []ui.Option
	for _, v := range p.Versions {
		for _, e := range v.Environments {
			out = append(out, ui.Option{Value: e.ID, Title: v.Name + "/" + e.Name, Chosen: e.ID == chosen})
		}
	}
	return out
}

func (h *Handler) addDomain(v *visit) (web.Answer, error) {
	in := domains.Input{Host: strings.TrimSpace(v.posted("host")), Environment: v.posted("environment")}
	d, err := h.Domains.Add(v.ctx(), v.who, v.param("project"), in)
	if wrong, ok := formErrorsIn(err); ok {
		return h.domainsWith(v, in, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("domain_added", projectPath(d.Project)+"/domains/"+d.ID, d.Host)
}

func (h *Handler) showDomain(v *visit) (web.Answer, error) { return h.domainWith(v, &formErrors{}) }

// domainWith shows a host name, with what was wrong with the last form.
func (h *Handler) domainWith(v *visit, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	d, err := h.Domains.Get(v.ctx(), v.who, p.ID, v.param("domain"))
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	path := domainPath(p, d)
	m := projects.Domain{
		Page:        v.shell(d.Host, path, projectsCrumb(), projectCrumb(p), domainsCrumb(p), ui.Crumb{Text: d.Host}),
		Host:        d.Host,
		State:       domainBadge(d),
		RecordName:  d.Record.Name,
		RecordValue: d.Record.Value,
		Problem:     d.Problem,
		BackURL:     domainsPath(p),
		Facts: []ui.Fact{
			{Label: "Leads to", Value: d.Version + "/" + d.Environment, Mono: true},
			{Label: "Verified", Value: verifiedText(d)},
			{Label: "Last looked up", Value: momentOrNever(d.CheckedAt)},
		},
	}
	m.Facts = append(m.Facts, ui.Fact{Label: "Certificate", Value: certificateText(d.Certificate)})
	m.CertificateProblem = certificateProblem(d.Certificate)
	if d.MissingSince != nil {
		m.Facts = append(m.Facts, ui.Fact{Label: "Record missing since", Value: moment(*d.MissingSince)})
	}
	if v.mayChange(p, access.DomainChange) {
		m.Manage = &projects.DomainManage{
			VerifyAction: path + "/verify",
			VerifyText:   "Verify",
			MoveAction:   path,
			Revision:     d.ETag,
			Environments: environmentOptions(p, d.EnvironmentID),
			Remove: ui.Confirmation{
				ID:     "domain-remove",
				Action: path + "/remove",
				Verb:   "Remove",
				Kind:   "host name",
				Name:   d.Host,
				Impact: append(h.callersOf(v, p, d.EnvironmentID, ""),
					"Calls to this host name are answered 404 from now on. The environment's own address works as "+
						"before."),
				Undo:  "You can add it again, and prove again that it is yours.",
				Error: wrong.take("/confirm"),
			},
		}
		if d.State != domains.Pending {
			m.Manage.VerifyText = "Check again"
		}
		m.Manage.Error = wrong.rest()
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.DomainPage(m)}, nil
}

func verifiedText(d domains.Domain) string {
	switch {
	case d.VerifiedAt == nil:
		return "not yet"
	case d.Proof == domains.ProofOperator:
		return "by an operator, " + moment(*d.VerifiedAt)
	}
	return "by its TXT record, " + moment(*d.VerifiedAt)
}

func certificateText(c domains.Certificate) string {
	from := "from the operator's files"
	if c.Source == domains.SourceACME {
		from = "by ACME"
	}
	switch c.State {
	case domains.ValidCertificate:
		return from + ", valid until " + moment(*c.EndsAt)
	case domains.ExpiredCertificate:
		return from + ", expired " + moment(*c.EndsAt)
	case domains.OrderedCertificate:
		return "being obtained by ACME"
	case domains.FailedCertificate:
		return "none: the last attempt failed"
	}
	return "none of its own"
}

// certificateProblem says why a certificate could not be obtained or renewed, "" if it could.
func certificateProblem(c domains.Certificate) string {
	if c.Problem == "" {
		return ""
	}
	text := "The last attempt to obtain the certificate failed: " + strings.TrimRight(c.Problem, ".") + "."
	if c.RetryAt != nil {
		text += " It is tried again " + moment(*c.RetryAt) + "."
	}
	return text
}

// domainChanged answers a form of a host name's page.
func (h *Handler) domainChanged(v *visit, err error, flash, host string) (web.Answer, error) {
	if fault.CodeOf(err) == "lookup_failed" {
		return h.domainWith(v, &formErrors{
			status: http.StatusServiceUnavailable,
			public: "The name server gave no answer. Try again in a minute.",
		})
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.domainWith(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done(flash, projectPath(v.param("project"))+"/domains/"+v.param("domain"), host)
}

func (h *Handler) verifyDomain(v *visit) (web.Answer, error) {
	d, err := h.Domains.Verify(v.ctx(), v.who, v.param("project"), v.param("domain"))
	return h.domainChanged(v, err, "domain_verified", d.Host)
}

func (h *Handler) moveDomain(v *visit) (web.Answer, error) {
	d, err := h.Domains.Move(v.ctx(), v.who, v.param("project"), v.param("domain"), domains.Move{
		IfMatch:     v.posted("revision"),
		Environment: v.posted("environment"),
	})
	return h.domainChanged(v, err, "domain_moved", d.Host)
}

func (h *Handler) removeDomain(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if err = v.allowed(p, access.DomainChange); err != nil {
		return web.Answer{}, err
	}
	d, err := h.Domains.Get(v.ctx(), v.who, p.ID, v.param("domain"))
	if err == nil {
		err = v.confirmed("Tick the box to remove the host name.")
	}
	if err == nil {
		err = h.Domains.Remove(v.ctx(), v.who, p.ID, d.ID)
	}
	if err != nil {
		return h.domainChanged(v, err, "", "")
	}
	return v.done("domain_gone", domainsPath(p), d.Host)
}
