package configfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Type is the type of value that a field must have.
type Type uint8

// The types. Texts are accepted for all of them if they can be read as such, since placeholders fill texts.
const (
	OneText   Type = iota
	OneNumber      // with or without decimals
	OneWhole       // number
	OneBool
	Texts // a list of texts and numbers, or a single one
)

// Field is a member whose value is read, so a value that can't be read must not become its default.
type Field struct {
	Path string // names of members with dots between them
	Type Type
	Min  float64 // of numbers; with Max 0, they have no bounds
	Max  float64
}

// expected says what the value of a field must be.
func (f Field) expected() string {
	what := map[Type]string{
		OneText: "a string", OneNumber: "a number", OneWhole: "a whole number", OneBool: "true or false",
		Texts: "a list of strings",
	}[f.Type]
	switch {
	case f.Max == 0:
		return what
	case f.Max >= math.MaxInt32-1:
		return fmt.Sprintf("%s of at least %.0f", what, f.Min)
	}
	return fmt.Sprintf("%s from %.0f to %.0f", what, f.Min, f.Max)
}

// CheckFields returns the paths of the fields that have a placeholder without a value, and an error for the first field
// whose value can't be read. of names the object in errors, such as "this service".
func (v Value) CheckFields(of string, fields []Field) (unfilled []string, err error) {
	for _, field := range fields {
		one, wrong := v, ""
		path := strings.Split(field.Path, ".")
		for i, name := range path {
			if one = one.Get(name); i < len(path)-1 && !one.canHaveMembers() {
				wrong = "an object"
				path = path[:i+1]
				break
			}
		}
		switch {
		case !one.IsSet():
		case wrong == "" && len(one.Unfilled()) > 0:
			unfilled = append(unfilled, field.Path)
		case wrong == "" && one.fits(field):
		default:
			if wrong == "" {
				wrong = field.expected()
			}
			detail := fmt.Sprintf("The %s of %s must be %s.", strings.Join(path, "."), of, wrong)
			if one.IsFilled() {
				return nil, Refuse(one.Line, "%s Set another value for its placeholder.", detail)
			}
			return nil, Refuse(one.Line, "%s Correct it in the file.", detail)
		}
	}
	return unfilled, nil
}

// canHaveMembers reports whether a value is an object, or missing. Lua writes an empty object as an empty list.
func (v Value) canHaveMembers() bool {
	return !v.IsSet() || v.Kind == Object || v.Kind == List && len(v.Items) == 0
}

// fits reports whether a value is of the type of a field.
func (v Value) fits(f Field) bool {
	switch f.Type {
	case Texts:
		if v.Kind == Object { // Lua writes an empty list as an empty object
			return len(v.Members) == 0
		}
		for _, item := range v.Items {
			if !item.isScalar() {
				return false
			}
		}
		return v.Kind == List || v.isScalar()
	case OneText:
		return v.isScalar()
	case OneBool:
		return v.isScalar() && v.Bool(true) == v.Bool(false)
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	if !v.isScalar() || err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return false
	}
	if f.Type == OneWhole && n != math.Trunc(n) {
		return false
	}
	return f.Max == 0 || f.Min <= n && n <= f.Max
}

func (v Value) isScalar() bool { return v.Kind == Text || v.Kind == Number || v.Kind == Bool }
