package projects

import (
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func domainsPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/domains" }

func domainPath(p rules.Project, d contract.Domain) string { return domainsPath(p) + "/" + d.ID }

func domainsCrumb(p rules.Project) ui.Crumb {
	return ui.Crumb{Text: "Custom domains", URL: domainsPath(p)}
}

func (h *Handler) showDomains(v *page.Visit) (web.Answer, error) {
	return h.domainsWith(v, contract.NewDomain{StripPrefix: new(true)}, &page.Errors{})
}

// domainsWith shows a project's custom domains, with the form as typed.
func (h *Handler) domainsWith(v *page.Visit, typed contract.NewDomain, wrong *page.Errors) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	list := &page.Listing{
		Path:   domainsPath(p),
		One:    "domain",
		Search: "Host name",
		Orders: []page.ListOrder{{By: "host"}},
		Filters: []page.ListFilter{{Name: "state", Title: "State", Options: []ui.Option{
			{Value: contract.DomainVerified, Title: "Verified"},
			{Value: contract.DomainPending, Title: "Pending"},
			{Value: contract.DomainMissing, Title: "Record missing"},
		}}},
	}
	list.Read(v)
	found, err := h.Domains.List(v.Ctx(), v.Who, contract.DomainList{
		ProjectPath: contract.ProjectPath{Project: p.ID}, Page: list.Request(),
		State: list.Get("state"), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Domains{
		Page: v.Shell("Custom domains", domainsPath(p), page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Custom domains"}),
		Head: v.HeadOf(p),
		List: page.ListView(list, found),
	}
	for _, d := range found.Items {
		m.Rows = append(m.Rows, projects.DomainRow{
			URL:   domainPath(p, d),
			Host:  d.Address(),
			Calls: strings.Join(d.Methods, ", "),
			Place: d.Version + "/" + d.Environment,
			State: domainBadge(d),
		})
	}
	if v.MayChange(p, access.DomainChange) {
		m.Add = &projects.DomainAdd{
			Open:         wrong.Status != 0,
			Action:       domainsPath(p),
			Host:         wrong.Value("/host", typed.Host),
			Calls:        domainCalls("domain", typed.PathPrefix, typed.StripPrefix, typed.Methods, wrong),
			Environments: environmentOptions(p, typed.Environment),
		}
		m.Add.Error = wrong.Rest()
	} else {
		m.Note = "You're a viewer on this team. Members and owners can add domains."
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.DomainsPage(m)}, nil
}

// domainCalls are the fields of which calls a domain takes. Methods that pages of browsers don't use are offered only
// where the domain has them.
func domainCalls(id, prefix string, strip *bool, methods []string, wrong *page.Errors) projects.DomainCalls {
	out := projects.DomainCalls{
		PathPrefix: wrong.Value("/path_prefix", prefix),
		Strip:      strip != nil && *strip,
		ID:         id,
		Methods: ui.Group{
			ID:     id + "-methods",
			Name:   "methods",
			Legend: page.FieldLabel("methods"),
			Hint:   "Select none to match every method.",
			Error:  wrong.Take("/methods"),
		},
	}
	for _, m := range slices.Compact(slices.Concat(rules.CORSMethods, methods)) {
		if !slices.ContainsFunc(out.Methods.Options, func(o ui.Option) bool { return o.Value == m }) {
			out.Methods.Options = append(out.Methods.Options, ui.Option{
				Value: m, Title: m, Chosen: slices.Contains(methods, m),
			})
		}
	}
	return out
}

func domainBadge(d contract.Domain) ui.Badge {
	switch d.State {
	case contract.DomainVerified:
		return ui.Badge{Tone: ui.Good, Text: "verified"}
	case contract.DomainMissing:
		return ui.Badge{Tone: ui.Warn, Text: "record missing"}
	}
	return ui.Badge{Text: "pending"}
}

// domainIn is the domain in the page's URL.
func domainIn(v *page.Visit) contract.DomainPath {
	return contract.DomainOf(v.Param("project"), v.Param("domain"))
}

// environmentID is the id of the environment that a domain leads to.
func environmentID(p rules.Project, d contract.Domain) string {
	for _, v := range p.Versions {
		for _, e := range v.Environments {
			if v.Name == d.Version && e.Name == d.Environment {
				return e.ID
			}
		}
	}
	return ""
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

func (h *Handler) addDomain(v *page.Visit) (web.Answer, error) {
	in := contract.DomainCreation{ProjectPath: contract.ProjectPath{Project: v.Param("project")}}
	v.Fill(&in.Body, "host", "path_prefix", "strip_prefix", "methods", "environment")
	d, err := h.Domains.Create(v.Ctx(), v.Who, in)
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.domainsWith(v, in.Body, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	flash := "domain_added"
	if d.State != contract.DomainPending {
		flash = "domain_added_served"
	}
	return v.Done(flash, page.ProjectPath(v.Param("project"))+"/domains/"+d.ID, d.Address())
}

func (h *Handler) showDomain(v *page.Visit) (web.Answer, error) {
	return h.domainWith(v, nil, &page.Errors{})
}

// domainWith shows a custom domain, with the change as typed and what was wrong with the last form.
func (h *Handler) domainWith(
	v *page.Visit, typed *contract.DomainChange, wrong *page.Errors,
) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	d, err := h.Domains.Get(v.Ctx(), v.Who, domainIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path, environment := domainPath(p, d), environmentID(p, d)
	if typed == nil {
		typed = &contract.DomainChange{
			PathPrefix: &d.PathPrefix, StripPrefix: &d.StripPrefix, Methods: &d.Methods, Environment: &environment,
		}
	}
	m := projects.Domain{
		Page: v.Shell(
			d.Address(),
			path,
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			domainsCrumb(p),
			ui.Crumb{Text: d.Address()},
		),
		Host:        d.Address(),
		State:       domainBadge(d),
		RecordName:  d.Record.Name,
		RecordValue: d.Record.Value,
		Problem:     page.TextOf(d.Problem),
		BackURL:     domainsPath(p),
		Facts: []ui.Fact{
			{Label: "Environment", Value: d.Version + "/" + d.Environment, Mono: true},
			{Label: "Calls", Value: callsText(d)},
			{Label: "Verified", Value: verifiedText(d)},
			page.TimeFact("Last checked", d.CheckedAt),
		},
	}
	m.Facts = append(m.Facts, ui.Fact{Label: "Certificate", Value: certificateText(d.Certificate)})
	m.CertificateProblem = certificateProblem(d.Certificate)
	for _, w := range d.Warnings {
		m.Warnings = append(m.Warnings, w.Detail)
	}
	if d.MissingSince != nil {
		m.Facts = append(m.Facts, page.TimeFact("Record missing since", d.MissingSince))
	}
	if v.MayChange(p, access.DomainChange) {
		m.Manage = &projects.DomainManage{
			VerifyAction: path + "/verify",
			VerifyText:   "Verify",
			MoveAction:   path,
			Revision:     d.ETag,
			Calls:        domainCalls("domain-move", *typed.PathPrefix, typed.StripPrefix, *typed.Methods, wrong),
			Environments: environmentOptions(p, *typed.Environment),
			Remove: ui.Confirmation{
				ID:     "domain-remove",
				Action: path + "/remove",
				Verb:   "Remove",
				Kind:   "domain",
				Name:   d.Address(),
				Impact: append(h.callersOf(v, p, environment, ""),
					"Calls that match only this domain will get 404. The environment's gateway URL will still work."),
				Undo: "You can add it again. If this is the last domain with its host name, you'll have to prove " +
					"again that you own the name.",
				Error: wrong.Take("/confirm"),
			},
		}
		if d.State != contract.DomainPending {
			m.Manage.VerifyText = "Check again"
		}
		m.Manage.Error = wrong.Rest()
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.DomainPage(m)}, nil
}

// callsText says which calls a domain takes.
func callsText(d contract.Domain) string {
	text := "all methods"
	if len(d.Methods) > 0 {
		text = strings.Join(d.Methods, ", ")
	}
	switch {
	case d.PathPrefix == "":
		return text + ", all paths"
	case d.StripPrefix:
		return text + ", " + d.PathPrefix + " and paths below it (prefix removed)"
	}
	return text + ", " + d.PathPrefix + " and paths below it (prefix kept)"
}

func verifiedText(d contract.Domain) string {
	switch {
	case d.VerifiedAt == nil:
		return "not yet"
	case page.TextOf(d.Proof) == contract.ProofOperator:
		return page.Moment(*d.VerifiedAt) + " (by an operator)"
	}
	return page.Moment(*d.VerifiedAt) + " (by TXT record)"
}

func certificateText(c contract.DomainCertificate) string {
	from := "provided by the operator"
	if page.TextOf(c.Source) == contract.CertificateFromACME {
		from = "issued through ACME"
	}
	switch c.State {
	case contract.ValidCertificate:
		return from + ", valid until " + page.Moment(*c.EndsAt)
	case contract.ExpiredCertificate:
		return from + ", expired on " + page.Moment(*c.EndsAt)
	case contract.OrderedCertificate:
		return "being requested through ACME"
	case contract.FailedCertificate:
		return "none (the last attempt failed)"
	}
	return "none"
}

// certificateProblem says why a certificate could not be obtained or renewed, "" if it could.
func certificateProblem(c contract.DomainCertificate) string {
	if c.Problem == nil {
		return ""
	}
	text := "The last attempt to obtain the certificate failed: " + strings.TrimRight(*c.Problem, ".") + "."
	if c.RetryAt != nil {
		text += " Next attempt: " + page.Moment(*c.RetryAt) + "."
	}
	return text
}

// domainChanged answers a form of a host name's page.
func (h *Handler) domainChanged(v *page.Visit, err error, flash, host string) (web.Answer, error) {
	if fault.CodeOf(err) == "lookup_failed" {
		return h.domainWith(v, nil, &page.Errors{
			Status: http.StatusServiceUnavailable,
			Public: "The name server didn't respond. Try again in a minute.",
		})
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.domainWith(v, nil, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done(flash, page.ProjectPath(v.Param("project"))+"/domains/"+v.Param("domain"), host)
}

func (h *Handler) verifyDomain(v *page.Visit) (web.Answer, error) {
	d, err := h.Domains.Verify(v.Ctx(), v.Who, domainIn(v))
	return h.domainChanged(v, err, "domain_verified", d.Address())
}

func (h *Handler) moveDomain(v *page.Visit) (web.Answer, error) {
	in := contract.DomainUpdate{DomainPath: domainIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "path_prefix", "strip_prefix", "methods", "environment")
	d, err := h.Domains.Update(v.Ctx(), v.Who, in)
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.domainWith(v, &in.Body, wrong)
	}
	return h.domainChanged(v, err, "domain_moved", d.Address())
}

func (h *Handler) removeDomain(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if err = v.Allowed(p, access.DomainChange); err != nil {
		return web.Answer{}, err
	}
	d, err := h.Domains.Get(v.Ctx(), v.Who, domainIn(v))
	if err == nil {
		err = v.Confirmed("Check the box to remove the domain.")
	}
	if err == nil {
		_, err = h.Domains.Delete(v.Ctx(), v.Who, domainIn(v))
	}
	if err != nil {
		return h.domainChanged(v, err, "", "")
	}
	return v.Done("domain_gone", domainsPath(p), d.Address())
}
