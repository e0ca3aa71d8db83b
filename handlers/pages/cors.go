package pages

import (
	"strconv"
	"strings"

	"postern/core/contract"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// corsForm is the form as posted.
type corsForm struct {
	contract.CORS
	revision, age string
}

func corsFormOf(c contract.SavedCORS) corsForm {
	form := corsForm{CORS: c.CORS, revision: c.ETag}
	if c.MaxAge != nil {
		form.age = strconv.Itoa(*c.MaxAge)
	}
	return form
}

// fill shows a form with what is wrong.
func (f corsForm) fill(m *ui.CORS, apps []string, wrong *formErrors) {
	m.SavedCORS = contract.SavedCORS{CORS: f.CORS, FromApps: apps, ETag: f.revision}
	m.AllMethods, m.Age = rules.CORSMethods, f.age
	m.Wrong = map[string]string{
		"origins":         wrong.takeLines("/origins", f.Origins),
		"headers":         wrong.takeLines("/headers", f.Headers),
		"exposed_headers": wrong.takeLines("/exposed_headers", f.ExposedHeaders),
		"max_age":         wrong.take("/max_age"),
		"methods":         wrong.take("/methods"),
	}
	m.Error = wrong.rest()
}

var corsFields = []string{
	"origins", "app_origins", "methods", "headers", "exposed_headers", "credentials", "max_age",
}

func postedCORS(v *visit) corsForm {
	form := corsForm{revision: v.posted("revision"), age: strings.TrimSpace(v.posted("max_age"))}
	v.fill(&form.CORS, corsFields...)
	return form
}

// asked is what the form asks for. Without origins nothing is set, although methods are chosen.
func (f corsForm) asked() contract.CORS {
	if !f.IsSet() {
		return contract.CORS{}
	}
	return f.CORS
}

// compareWith shows the form next to what was saved since it was opened.
func (f corsForm) compareWith(m *projects.Conflict, saved contract.SavedCORS) {
	yours, theirs := corsForm{CORS: f.asked(), age: f.age}, corsFormOf(saved)
	for _, row := range []struct {
		label string
		of    func(corsForm) string
	}{
		{"Origins", func(c corsForm) string { return strings.Join(c.Origins, ", ") }},
		{"Origins of app clients", func(c corsForm) string { return yesOrNo(c.AppOrigins) }},
		{"Methods", func(c corsForm) string { return strings.Join(c.Methods, ", ") }},
		{"Headers", func(c corsForm) string { return strings.Join(c.Headers, ", ") }},
		{"Exposed headers", func(c corsForm) string { return strings.Join(c.ExposedHeaders, ", ") }},
		{"Cookies", func(c corsForm) string { return yesOrNo(c.Credentials) }},
		{"Cache preflights", func(c corsForm) string { return c.age }},
	} {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  row.label,
			Yours:  textOrNone(row.of(yours)),
			Theirs: textOrNone(row.of(theirs)),
		})
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: saved.ETag},
		{Name: "origins", Value: strings.Join(f.Origins, "\n")},
		{Name: "headers", Value: strings.Join(f.Headers, "\n")},
		{Name: "exposed_headers", Value: strings.Join(f.ExposedHeaders, "\n")},
		{Name: "methods", Value: strings.Join(f.Methods, "\n")},
		{Name: "max_age", Value: f.age},
		{Name: "app_origins", Value: strconv.FormatBool(f.AppOrigins)},
		{Name: "credentials", Value: strconv.FormatBool(f.Credentials)},
	}
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
