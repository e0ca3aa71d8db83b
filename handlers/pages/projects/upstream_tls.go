package projects

import (
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/views/projects"
	"postern/views/ui"
)

// tlsMembers are the fields of the form for the TLS settings of an environment's upstream.
var tlsMembers = append(contract.MembersWithin(contract.UpdateEnvironment, "upstream.ca"), "server_name")

// tlsModel returns nil for an http target, which has no TLS settings.
func tlsModel(e *contract.Environment) *projects.UpstreamTLS {
	if !strings.HasPrefix(e.Target, "https://") {
		return nil
	}
	set := e.Upstream.Stated()
	m := &projects.UpstreamTLS{
		CA:         ui.Value{Text: *set.CA.PEM},
		System:     *set.CA.System,
		ServerName: ui.Value{Text: *set.ServerName},
	}
	list, _ := set.CA.Certificates() // which were checked when they were saved
	for _, one := range list {
		m.Facts = append(m.Facts, ui.Fact{
			Label: "Certificate authority",
			Value: one.Subject.String() + ", until " + one.NotAfter.UTC().Format(time.DateOnly),
		})
	}
	if !m.System {
		m.Facts = append(m.Facts, ui.Fact{Label: "System authorities", Value: "not trusted"})
	}
	if *set.ServerName != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "Server name", Value: *set.ServerName, Mono: true})
	}
	return m
}

// saveTLS saves the form. An empty field is the default.
func (h *Handler) saveTLS(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	v.Fill(&in.Body.Upstream, tlsMembers...)
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("tls", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		if m.TLS == nil {
			return
		}
		typed := v.Posted("pem")
		if strings.Contains(typed, "PRIVATE KEY") { // which was pasted by mistake, and isn't sent back
			typed = ""
		}
		m.TLS.Open = true
		m.TLS.CA = wrong.Value("/upstream/ca/pem", typed)
		m.TLS.System = v.Posted("system") == "true"
		m.TLS.ServerName = wrong.Value("/upstream/server_name", v.Posted("server_name"))
		m.TLS.Error = wrong.Rest()
	})
}

// saveHostHeader saves the form. An empty field is the default.
func (h *Handler) saveHostHeader(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	v.Fill(&in.Body.Upstream, "host_header")
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("host_header", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		if m.Host == nil {
			return
		}
		m.Host.Open = true
		m.Host.Value = wrong.Value("/upstream/host_header", v.Posted("host_header"))
		m.Host.Error = wrong.Rest()
	})
}
