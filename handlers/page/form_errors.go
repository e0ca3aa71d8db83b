package page

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"postern/handlers/web"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/views/ui"
)

// Errors are the mistakes that a rule found in a form. Each field takes those about
// itself; the rest is shown above the form.
type Errors struct {
	Status int // HTTP
	Public string
	Fields []fault.Field
}

// ErrorsIn returns the mistakes in an error that the visitor can correct in the form.
// ok is false for all other errors.
func ErrorsIn(err error) (m *Errors, ok bool) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || (f.Kind != fault.Invalid && f.Kind != fault.Conflict) {
		return nil, false
	}
	m = &Errors{Status: web.StatusOf(f.Kind), Public: f.Public, Fields: slices.Clone(f.Fields)}
	if f.Kind == fault.Conflict && len(m.Fields) == 1 {
		// The field's detail is the fix, the public text the problem.
		m.Fields[0].Detail = f.Public + " " + m.Fields[0].Detail
	}
	return m, true
}

// Take removes and returns the mistakes at the pointer or below it, "" if there are none.
func (m *Errors) Take(pointer string) string {
	var found []string
	m.Fields = slices.DeleteFunc(m.Fields, func(f fault.Field) bool {
		mine := f.Pointer == pointer || strings.HasPrefix(f.Pointer, pointer+"/")
		if mine {
			found = append(found, f.Detail)
			m.Public = ""
		}
		return mine
	})
	return strings.Join(found, " ")
}

// TakeLines is take for a field with an element on each line. It names the line of each
// mistake.
func (m *Errors) TakeLines(pointer string, lines []string) string {
	var found []string
	for i, line := range lines {
		if detail := m.Take(pointer + "/" + strconv.Itoa(i)); detail != "" {
			found = append(found, line+": "+detail)
		}
	}
	if detail := m.Take(pointer); detail != "" {
		found = append(found, detail)
	}
	return strings.Join(found, " ")
}

// PlacedLine is a line of a field, with the pointers of its members in the body.
type PlacedLine struct {
	Number   int // in the field, from 1
	Pointers []string
}

// mostLines is the number of lines whose mistakes a field lists.
const mostLines = 10

// TakePlaced is Take for a field with an element on each line. It names each mistake's line by its number.
func (m *Errors) TakePlaced(lines []PlacedLine) string {
	var found []string
	for _, line := range lines {
		var details []string
		for _, pointer := range line.Pointers {
			if detail := m.Take(pointer); detail != "" {
				details = append(details, detail)
			}
		}
		if len(details) > 0 {
			found = append(found, LineMistake(line.Number, strings.Join(details, " ")))
		}
	}
	return LineMistakes(found)
}

// LineMistake is a mistake in a line of a field.
func LineMistake(number int, detail string) string { return fmt.Sprintf("Line %d: %s", number, detail) }

// LineMistakes lists the mistakes in the first lines of a field, and says whether there are more. It doesn't count
// them, because a rule lists at most fault.MaxFields.
func LineMistakes(found []string) string {
	if len(found) > mostLines {
		found = append(found[:mostLines:mostLines], "Other lines also have errors.")
	}
	return strings.Join(found, " ")
}

// Lines is value for a field with an element on each line.
func (m *Errors) Lines(pointer, typed string) ui.Value {
	return ui.Value{Text: typed, Error: m.TakeLines(pointer, Lines(typed))}
}

// Value returns a field as typed, with its mistake.
func (m *Errors) Value(pointer, typed string) ui.Value {
	return ui.Value{Text: typed, Error: m.Take(pointer)}
}

// Target is Value for the URL of a target. If only the scheme is missing, the field gets the URL with a scheme, and the
// error says so and names the button that sends the form.
func (m *Errors) Target(pointer, typed, button string) ui.Value {
	value := m.Value(pointer, typed)
	if whole := withScheme(typed); value.Error != "" && whole != "" {
		return ui.Value{
			Text: whole,
			Error: "The URL didn't have a scheme. The field now contains " + whole + ". Select “" + button +
				"”, or change the URL.",
		}
	}
	return value
}

// withScheme adds a scheme to a URL if that makes it a valid target. Otherwise it returns "".
func withScheme(address string) string {
	if strings.Contains(address, "://") {
		return ""
	}
	u, err := egress.ParseTarget("https://" + address)
	if err != nil {
		return ""
	}
	if host := u.Hostname(); host == "localhost" || net.ParseIP(host) != nil { // which rarely have a certificate
		return "http://" + address
	}
	return "https://" + address
}

// Rest returns the mistakes that no field took.
func (m *Errors) Rest() string {
	if len(m.Fields) == 0 {
		return m.Public
	}
	var found []string
	for _, f := range m.Fields {
		found = append(found, f.Detail)
	}
	return strings.Join(found, " ")
}
