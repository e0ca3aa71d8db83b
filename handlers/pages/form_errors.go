package pages

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/ui"
)

// formErrors are the mistakes that a rule found in a form. Each field takes those about
// itself; the rest is shown above the form.
type formErrors struct {
	status int // HTTP
	public string
	fields []fault.Field
}

// formErrorsIn returns the mistakes in an error that the visitor can correct in the form.
// ok is false for all other errors.
func formErrorsIn(err error) (m *formErrors, ok bool) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || (f.Kind != fault.Invalid && f.Kind != fault.Conflict) {
		return nil, false
	}
	m = &formErrors{status: web.StatusOf(f.Kind), public: f.Public, fields: slices.Clone(f.Fields)}
	if f.Kind == fault.Conflict && len(m.fields) == 1 {
		// The field's detail is the fix, the public text the problem.
		m.fields[0].Detail = f.Public + " " + m.fields[0].Detail
	}
	return m, true
}

// take removes and returns the mistakes at the pointer or below it, "" if there are none.
func (m *formErrors) take(pointer string) string {
	var found []string
	m.fields = slices.DeleteFunc(m.fields, func(f fault.Field) bool {
		mine := f.Pointer == pointer || strings.HasPrefix(f.Pointer, pointer+"/")
		if mine {
			found = append(found, f.Detail)
			m.public = ""
		}
		return mine
	})
	return strings.Join(found, " ")
}

// takeLines is take for a field with an element on each line. It names the line of each
// mistake.
func (m *formErrors) takeLines(pointer string, lines []string) string {
	var found []string
	for i, line := range lines {
		if detail := m.take(pointer + "/" + strconv.Itoa(i)); detail != "" {
			found = append(found, line+": "+detail)
		}
	}
	if detail := m.take(pointer); detail != "" {
		found = append(found, detail)
	}
	return strings.Join(found, " ")
}

// lines is value for a field with an element on each line.
func (m *formErrors) lines(pointer, typed string) ui.Value {
	return ui.Value{Text: typed, Error: m.takeLines(pointer, lines(typed))}
}

// value returns a field as typed, with its mistake.
func (m *formErrors) value(pointer, typed string) ui.Value {
	return ui.Value{Text: typed, Error: m.take(pointer)}
}

// rest returns the mistakes that no field took.
func (m *formErrors) rest() string {
	if len(m.fields) == 0 {
		return m.public
	}
	var found []string
	for _, f := range m.fields {
		found = append(found, f.Detail)
	}
	return strings.Join(found, " ")
}
