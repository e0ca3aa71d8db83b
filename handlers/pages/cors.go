package pages

import (
	"slices"
	"strconv"
	"strings"

	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// maxOverrides is how many tenants with settings of their own a project's page names.
const maxOverrides = 20

// corsForm is the form as posted.
type corsForm struct {
	revision, origins, headers, exposed, age string
	methods                                  []string
	appOrigins, credentials                  bool
}

func corsFormOf(c rules.CORS) corsForm {
	form := corsForm{
		revision:    c.ETag,
		origins:     strings.Join(c.Origins, "\n"),
		headers:     strings.Join(c.Headers, "\n"),
		exposed:     strings.Join(c.ExposedHeaders, "\n"),
		methods:     c.Methods,
		appOrigins:  c.AppOrigins,
		credentials: c.Credentials,
	}
	if c.MaxAge != nil {
		form.age = strconv.Itoa(*c.MaxAge)
	}
	if len(form.methods) == 0 {
		form.methods = rules.CORSMethods
	}
	return form
}

func (h *Handler) corsSection(v *visit, p rules.Project) (ui.CORS, error) {
	m := ui.CORS{
		Action: projectPath(p.Name) + "/cors",
		Hint: "A page may call this project from a browser if its origin is listed (CORS). Preflights are answered " +
			"here, before credentials are looked at. Without any origin, that is left to the upstreams.",
		Apps:     "project's",
		FromApps: p.CORS.FromApps,
	}
	tenants, err := h.Projects.CORSOverrides(v.ctx(), v.who, p.ID)
	for i, t := range tenants {
		if i == maxOverrides {
			m.MoreOverrides = len(tenants) - i
			break
		}
		m.Overrides = append(m.Overrides, ui.Link{URL: tenantPath(t.ID), Text: t.DisplayName})
	}
	corsFormOf(p.CORS).fill(&m, &formErrors{})
	return m, err
}

// fill shows a form with what is wrong.
func (f corsForm) fill(m *ui.CORS, wrong *formErrors) {
	m.Revision = f.revision
	m.Origins = ui.Value{Text: f.origins, Error: wrong.takeLines("/origins", lines(f.origins))}
	m.Headers = ui.Value{Text: f.headers, Error: wrong.takeLines("/headers", lines(f.headers))}
	m.Exposed = ui.Value{Text: f.exposed, Error: wrong.takeLines("/exposed_headers", lines(f.exposed))}
	m.MaxAge = wrong.value("/max_age", f.age)
	m.WrongMethod = wrong.take("/methods")
	m.AppOrigins, m.Credentials = f.appOrigins, f.credentials
	m.Methods = nil
	for _, method := range rules.CORSMethods {
		m.Methods = append(m.Methods, ui.Option{
			Value: method, Title: method, Chosen: slices.Contains(f.methods, method),
		})
	}
	m.Error = wrong.rest()
}

func postedCORS(v *visit) corsForm {
	return corsForm{
		revision:    v.posted("revision"),
		origins:     v.posted("cors_origins"),
		headers:     v.posted("cors_headers"),
		exposed:     v.posted("exposed_headers"),
		age:         strings.TrimSpace(v.posted("max_age")),
		methods:     v.c.Request.PostForm["cors_methods"],
		appOrigins:  v.posted("app_origins") == "true",
		credentials: v.posted("credentials") == "true",
	}
}

func (h *Handler) saveCORS(v *visit) (web.Answer, error) {
	form := postedCORS(v)
	_, err := h.Projects.SetCORS(v.ctx(), v.who, v.param("project"), form.revision, form.read())
	return h.saved(v, err, "cors", v.param("project"), form)
}

// read returns what the form asks for. Without origins CORS is left to the upstreams.
func (f corsForm) read() rules.CORS {
	c := rules.CORS{Origins: lines(f.origins), AppOrigins: f.appOrigins}
	if len(c.Origins) == 0 && !c.AppOrigins {
		return rules.CORS{}
	}
	c.Methods, c.Credentials = f.methods, f.credentials
	c.Headers, c.ExposedHeaders = lines(f.headers), lines(f.exposed)
	if f.age != "" {
		age, err := strconv.Atoi(f.age)
		if err != nil {
			age = -1 // which the rule refuses together with other invalid fields
		}
		c.MaxAge = &age
	}
	return c
}

func (corsForm) page() *configuredPage { return limitsPage }

func (f corsForm) mark(m *projects.Configure, wrong *formErrors) {
	f.fill(&m.CORS, wrong)
}

func (f corsForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "Cross-origin calls", projectPath(p.Name)+"/cors"
	f.compareWith(m, p.CORS)
	return nil
}

// compareWith shows the form beside what was saved meanwhile.
func (f corsForm) compareWith(m *projects.Conflict, theirs rules.CORS) {
	now, yours := corsFormOf(theirs), f.read()
	for _, row := range []struct {
		label string
		of    func(rules.CORS, corsForm) string
	}{
		{"Origins", func(c rules.CORS, _ corsForm) string { return strings.Join(c.Origins, ", ") }},
		{"Origins of app clients", func(c rules.CORS, _ corsForm) string { return yesOrNo(c.AppOrigins) }},
		{"Methods", func(c rules.CORS, _ corsForm) string { return strings.Join(c.Methods, ", ") }},
		{"Headers", func(c rules.CORS, _ corsForm) string { return strings.Join(c.Headers, ", ") }},
		{"Exposed headers", func(c rules.CORS, _ corsForm) string { return strings.Join(c.ExposedHeaders, ", ") }},
		{"Cookies", func(c rules.CORS, _ corsForm) string { return yesOrNo(c.Credentials) }},
		{"Keep preflights, in seconds", func(_ rules.CORS, f corsForm) string { return f.age }},
	} {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  row.label,
			Yours:  textOrNone(row.of(yours, f)),
			Theirs: textOrNone(row.of(theirs, now)),
		})
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: now.revision},
		{Name: "cors_origins", Value: f.origins},
		{Name: "cors_headers", Value: f.headers},
		{Name: "exposed_headers", Value: f.exposed},
		{Name: "max_age", Value: f.age},
		{Name: "app_origins", Value: strconv.FormatBool(f.appOrigins)},
		{Name: "credentials", Value: strconv.FormatBool(f.credentials)},
	}
	for _, method := range f.methods {
		m.Hidden = append(m.Hidden, projects.Pair{Name: "cors_methods", Value: method})
	}
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
