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

// mistakes is what a rule found wrong with a form. Each field of the form takes
// what concerns it; the rest is said above the form.
type mistakes struct {
	status int // HTTP
	public string
	fields []fault.Field
}

// mistakesIn reads an error that the user can mend in the form; ok is false for
// any other.
func mistakesIn(err error) (m *mistakes, ok bool) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || (f.Kind != fault.Invalid && f.Kind != fault.Conflict) {
		return nil, false
	}
	m = &mistakes{status: web.StatusOf(f.Kind), public: f.Public, fields: slices.Clone(f.Fields)}
	if f.Kind == fault.Conflict && len(m.fields) == 1 {
		// The field says what to do, the whole what is the matter.
		m.fields[0].Detail = f.Public + " " + m.fields[0].Detail
	}
	return m, true
}

// take returns what is wrong at the pointer or below it, "" when nothing is.
func (m *mistakes) take(pointer string) string {
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

// takeLines is take for a field that holds an element on each line: it says which
// line it means.
func (m *mistakes) takeLines(pointer string, lines []string) string {
	var found []string
	for i, line := range lines {
		if said := m.take(pointer + "/" + strconv.Itoa(i)); said != "" {
			found = append(found, line+": "+said)
		}
	}
	if said := m.take(pointer); said != "" {
		found = append(found, said)
	}
	return strings.Join(found, " ")
}

// value is a field as it was typed, with what is wrong with it.
func (m *mistakes) value(pointer, typed string) ui.Value {
	return ui.Value{Text: typed, Error: m.take(pointer)}
}

// rest is what no field took.
func (m *mistakes) rest() string {
	if len(m.fields) == 0 {
		return m.public
	}
	var found []string
	for _, f := range m.fields {
		found = append(found, f.Detail)
	}
	return strings.Join(found, " ")
}
