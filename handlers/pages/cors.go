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

func corsSection(p rules.Project) projects.CORS {
	m := corsFormOf(p.CORS).section(&formErrors{})
	m.Action, m.FromApps = projectPath(p.Name)+"/cors", p.CORS.FromApps
	return m
}

// section shows a form with what is wrong.
func (f corsForm) section(wrong *formErrors) projects.CORS {
	m := projects.CORS{
		Revision:    f.revision,
		Origins:     ui.Value{Text: f.origins, Error: wrong.takeLines("/origins", lines(f.origins))},
		Headers:     ui.Value{Text: f.headers, Error: wrong.takeLines("/headers", lines(f.headers))},
		Exposed:     ui.Value{Text: f.exposed, Error: wrong.takeLines("/exposed_headers", lines(f.exposed))},
		MaxAge:      wrong.value("/max_age", f.age),
		WrongMethod: wrong.take("/methods"),
		AppOrigins:  f.appOrigins,
		Credentials: f.credentials,
	}
	for _, method := range rules.CORSMethods {
		m.Methods = append(m.Methods, ui.Option{
			Value: method, Title: method, Chosen: slices.Contains(f.methods, method),
		})
	}
	m.Error = wrong.rest()
	return m
}

func (h *Handler) saveCORS(v *visit) (web.Answer, error) {
	form := corsForm{
		revision:    v.posted("revision"),
		origins:     v.posted("cors_origins"),
		headers:     v.posted("cors_headers"),
		exposed:     v.posted("exposed_headers"),
		age:         strings.TrimSpace(v.posted("max_age")),
		methods:     v.c.Request.PostForm["cors_methods"],
		appOrigins:  v.posted("app_origins") == "true",
		credentials: v.posted("credentials") == "true",
	}
	_, err := h.Projects.SetCORS(v.ctx(), v.who, v.param("project"), form.revision, form.read())
	return h.saved(v, err, "cors", form)
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
	action, fromApps := m.CORS.Action, m.CORS.FromApps
	m.CORS = f.section(wrong)
	m.CORS.Action, m.CORS.FromApps = action, fromApps
}

func (f corsForm) compare(m *projects.Conflict, p rules.Project) error {
	now := corsFormOf(p.CORS)
	m.What, m.Action = "Cross-origin calls", projectPath(p.Name)+"/cors"
	yours, theirs := f.read(), p.CORS
	for _, row := range []struct {
		label string
		of    func(rules.CORS, corsForm) string
	}{
		{"Origins", func(c rules.CORS, _ corsForm) string { return strings.Join(c.Origins, ", ") }},
		{"Origins of the project's apps", func(c rules.CORS, _ corsForm) string { return yesOrNo(c.AppOrigins) }},
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
	return nil
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
