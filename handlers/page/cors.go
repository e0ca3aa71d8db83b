package page

import (
	"strconv"
	"strings"

	"postern/core/contract"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// CORSForm is the form as posted.
type CORSForm struct {
	contract.CORS
	Revision, age string
}

// CORSFormOf returns the form with the saved values.
func CORSFormOf(c contract.SavedCORS) CORSForm {
	form := CORSForm{CORS: c.CORS, Revision: c.ETag}
	if c.MaxAge != nil {
		form.age = strconv.Itoa(*c.MaxAge)
	}
	return form
}

// Fill shows a form with its mistakes.
func (f CORSForm) Fill(m *ui.CORS, apps []string, wrong *Errors) {
	m.SavedCORS = contract.SavedCORS{CORS: f.CORS, FromApps: apps, ETag: f.Revision}
	m.AllMethods, m.Age = rules.CORSMethods, f.age
	m.Wrong = map[string]string{
		"origins":         wrong.TakeLines("/origins", f.Origins),
		"headers":         wrong.TakeLines("/headers", f.Headers),
		"exposed_headers": wrong.TakeLines("/exposed_headers", f.ExposedHeaders),
		"max_age":         wrong.Number("/max_age", f.age).Error,
		"methods":         wrong.Take("/methods"),
	}
	m.Error = wrong.Rest()
}

var corsFields = []string{
	"origins", "app_origins", "methods", "headers", "exposed_headers", "credentials", "max_age",
}

// PostedCORS reads the form.
func PostedCORS(v *Visit) CORSForm {
	form := CORSForm{Revision: v.Posted("revision"), age: strings.TrimSpace(v.Posted("max_age"))}
	v.Fill(&form.CORS, corsFields...)
	return form
}

// Value returns the settings in the form. Without origins nothing is set, even if methods are chosen.
func (f CORSForm) Value() contract.CORS {
	if !f.IsSet() {
		return contract.CORS{}
	}
	return f.CORS
}

// CompareWith shows the form next to the values that were saved since it was opened.
func (f CORSForm) CompareWith(m *projects.Conflict, saved contract.SavedCORS) {
	yours, theirs := CORSForm{CORS: f.Value(), age: f.age}, CORSFormOf(saved)
	for _, row := range []struct {
		label string
		of    func(CORSForm) string
	}{
		{"Origins", func(c CORSForm) string { return strings.Join(c.Origins, ", ") }},
		{"Origins of app clients", func(c CORSForm) string { return yesOrNo(c.AppOrigins) }},
		{"Methods", func(c CORSForm) string { return strings.Join(c.Methods, ", ") }},
		{"Headers", func(c CORSForm) string { return strings.Join(c.Headers, ", ") }},
		{"Exposed headers", func(c CORSForm) string { return strings.Join(c.ExposedHeaders, ", ") }},
		{"Cookies", func(c CORSForm) string { return yesOrNo(c.Credentials) }},
		{"Preflight cache time", func(c CORSForm) string { return c.age }},
	} {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  row.label,
			Yours:  TextOrNone(row.of(yours)),
			Theirs: TextOrNone(row.of(theirs)),
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
