package projects

import (
	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/views/projects"
	"postern/views/ui"
)

// httpVersions are the choices of the form for the version of HTTP.
var httpVersions = []ui.Option{
	{Value: string(contract.HTTP1), Title: "HTTP/1.1", Text: "Works with every upstream. WebSockets are forwarded."},
	{Value: string(contract.HTTP2), Title: "HTTP/2", Text: "For gRPC, and for upstreams that support only HTTP/2. An " +
		"https target must offer it in the TLS handshake. An http target must accept it without TLS (h2c)."},
	{Value: string(contract.HTTPAuto), Title: "Automatic", Text: "HTTP/2 if an https target offers it, and HTTP/1.1 " +
		"if not."},
}

func httpModel(version contract.UpstreamHTTP) *projects.UpstreamHTTP {
	m := &projects.UpstreamHTTP{Version: ui.Group{ID: "http", Name: "http", Legend: page.FieldLabel("http")}}
	for _, o := range httpVersions {
		if o.Chosen = o.Value == string(version); o.Chosen {
			m.Facts = []ui.Fact{{Label: m.Version.Legend, Value: o.Title}}
		}
		m.Version.Options = append(m.Version.Options, o)
	}
	return m
}

func (h *Handler) saveHTTP(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	v.Fill(&in.Body.Upstream, "http")
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("http", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		if m.HTTP == nil {
			return
		}
		form := httpModel(in.Body.Upstream.HTTP)
		form.Open, form.Action, form.Revision = true, m.HTTP.Action, m.HTTP.Revision
		form.Version.Error = wrong.Value("/upstream/http", "").Error
		form.Error = wrong.Rest()
		m.HTTP = form
	})
}
