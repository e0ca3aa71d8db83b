package page

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/service/keys"
	"postern/views/ui"
)

// The numbers of forms, as people type them and pages write them: digits can be in groups of three, as in 1,000.
var (
	wholeNumber   = regexp.MustCompile(`^[+-]?([0-9]+|[0-9]{1,3}(,[0-9]{3})+)$`)
	decimalNumber = regexp.MustCompile(`^[+-]?([0-9]+|[0-9]{1,3}(,[0-9]{3})+)?(\.[0-9]+)?$`)
)

// WholeNumber reads a whole number of a form. ok is false for any other text. A number that int64 can't hold becomes
// the nearest one that it can.
func WholeNumber(text string) (n int64, ok bool) {
	text = strings.TrimSpace(text)
	if !wholeNumber.MatchString(text) {
		return 0, false
	}
	n, _ = strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64) // it can only be out of range
	return n, true
}

// DecimalNumber reads a number of a form, such as 1,440 or 0.5. ok is false for any other text.
func DecimalNumber(text string) (n float64, ok bool) {
	text = strings.TrimSpace(text)
	if !decimalNumber.MatchString(text) {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return n, err == nil
}

// NoNumber is the value of text that isn't a number. Rules refuse it together with other invalid fields, and the form
// says that the text isn't a number.
const NoNumber = -1

// Number is Value for a field with a whole number, which can be empty.
func (m *Errors) Number(pointer, typed string) ui.Value {
	value := m.Value(pointer, typed)
	if _, ok := WholeNumber(typed); !ok && m.Status != 0 && strings.TrimSpace(typed) != "" {
		value.Error = "Enter a whole number."
	}
	return value
}

// Limit is Value for a field with the calls that a window of limits admits, which can be empty.
func (m *Errors) Limit(pointer, typed string) ui.Value {
	value := m.Value(pointer, typed)
	n, ok := WholeNumber(typed)
	switch {
	case m.Status == 0 || strings.TrimSpace(typed) == "":
	case !ok || n < 1:
		value.Error = "Use a whole number of 1 or more, or leave the field empty."
	case n > keys.MaxCalls:
		value.Error = fmt.Sprintf("Use at most %s, or leave the field empty.", humanize.Comma(keys.MaxCalls))
	}
	return value
}

// Units is Value for a field with a number of units that the API counts in seconds. bounds says which numbers it takes.
func (m *Errors) Units(pointer, typed, bounds string) ui.Value {
	value := m.Value(pointer, typed)
	_, ok := DecimalNumber(typed)
	switch {
	case value.Error == "":
	case !ok && strings.TrimSpace(typed) != "":
		value.Error = "Enter a number. " + bounds
	default:
		value.Error = bounds
	}
	return value
}
