package protocol

import (
	"cmp"
	"strings"

	"postern/platform/ascii"
)

// Term is the comparison of an attribute, in lowercase, with a value: a string, or true
// or false as in the filter.
type Term struct{ Attribute, Value string }

// ParseFilter parses the filter of a list (RFC 7644, 3.4.2.2), in which attributes are compared by eq, and several
// comparisons are joined by and. An empty filter matches everything.
func ParseFilter(text string) ([]Term, error) {
	f, err := parseFilter(text)
	if err != nil || f == nil {
		return nil, err
	}
	return f.terms(nil)
}

var errFilter = invalid(
	"invalidFilter",
	`Use attribute eq "value", such as userName eq "ana@example.com", or up to ten such comparisons joined by and.`,
)

// none is a term that no resource matches, because no address is empty.
var none = Term{Attribute: "emails.value"}

// terms adds the comparisons of a filter to out.
func (f *filter) terms(out []Term) ([]Term, error) {
	if f.op == "and" {
		for _, inner := range f.of {
			var err error
			if out, err = inner.terms(out); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	p := f.path
	if p.schema != "" && p.schema != lowerUserSchema && p.schema != lowerGroupSchema {
		return nil, errFilter
	}
	if p.filter != nil {
		var err error
		if out, err = p.filter.valueTerms(p.attribute, out); err != nil || f.op == "pr" && p.part == "" {
			return out, err
		}
	}
	var value string
	switch of := f.value.(type) {
	case string:
		value = of
	case bool:
		value = map[bool]string{true: "true", false: "false"}[of]
	default:
		return nil, errFilter
	}
	if f.op != "eq" {
		return nil, errFilter
	}
	name := p.attribute
	if p.part != "" {
		name += "." + p.part
	}
	return append(out, Term{Attribute: name, Value: value}), nil
}

// valueTerms adds the comparisons of the filter in emails[…] or members[…] to out.
func (f *filter) valueTerms(attribute string, out []Term) ([]Term, error) {
	if f.op == "and" {
		for _, inner := range f.of {
			var err error
			if out, err = inner.valueTerms(attribute, out); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	value, isText := f.value.(string)
	known := attribute == "emails" || attribute == "members"
	switch {
	case known && isText && f.op == "eq" && f.path == (path{attribute: "value"}):
		return append(out, Term{Attribute: attribute + ".value", Value: value}), nil
	case attribute == "emails" && (f.path == path{attribute: "type"} || f.path == path{attribute: "primary"}):
		if err := f.check(userKind.kept["emails"]); err != nil {
			return nil, err
		}
		if !f.matches(theAddress("")) {
			out = append(out, none)
		}
		return out, nil
	}
	return nil, errFilter
}

// value has the parts of a complex attribute, by their names in lowercase.
type value map[string]any

// theAddress returns the one address that a user has.
func theAddress(address string) value {
	return value{"value": address, "type": "work", "primary": true}
}

// check refuses a filter of the values of an attribute that compares what they do not have.
func (f *filter) check(attribute Attribute) error {
	for _, inner := range f.of {
		if err := inner.check(attribute); err != nil {
			return err
		}
	}
	if len(f.of) > 0 {
		return nil
	}
	refused := func(why string) error {
		return invalid("invalidFilter", "In "+attribute.Name+"[…], "+why)
	}
	part, ok := partOf(attribute, f.path.attribute)
	if !ok || f.path.part != "" || f.path.schema != "" {
		return refused("compare parts such as value, not " + f.path.String() + ".")
	}
	if f.exact = part.CaseExact; f.op == "pr" {
		return nil
	}
	ordered := f.op != "eq" && f.op != "ne"
	if part.Type == "boolean" {
		if text, ok := f.value.(string); ok && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")) {
			f.value = strings.EqualFold(text, "true") // as Entra ID sends it
		}
		if _, ok := f.value.(bool); !ok || ordered {
			return refused("compare " + part.Name + " with true or false, using eq or ne.")
		}
		return nil
	}
	if _, ok := f.value.(string); !ok && (f.value != nil || ordered) {
		return refused("compare " + part.Name + " with a string in double quotes.")
	}
	return nil
}

// matches reports whether a value matches a filter that check has accepted.
func (f *filter) matches(v value) bool {
	switch f.op {
	case "and", "or":
		for _, inner := range f.of {
			if inner.matches(v) == (f.op == "or") {
				return f.op == "or"
			}
		}
		return f.op == "and"
	case "not":
		return !f.of[0].matches(v)
	case "pr":
		return !empty(v[f.path.attribute])
	case "ne":
		return !f.equals(v[f.path.attribute])
	case "eq":
		return f.equals(v[f.path.attribute])
	}
	has, _ := v[f.path.attribute].(string)
	with, _ := f.value.(string)
	has, with = f.folded(has), f.folded(with)
	switch order := cmp.Compare(has, with); f.op {
	case "co":
		return strings.Contains(has, with)
	case "sw":
		return strings.HasPrefix(has, with)
	case "ew":
		return strings.HasSuffix(has, with)
	case "gt":
		return order > 0
	case "ge":
		return order >= 0
	case "lt":
		return order < 0
	}
	return cmp.Compare(has, with) <= 0
}

func empty(of any) bool { return of == nil || of == "" }

func (f *filter) equals(has any) bool {
	if empty(has) || empty(f.value) {
		return empty(has) && empty(f.value)
	}
	text, isText := has.(string)
	other, isOther := f.value.(string)
	if isText && isOther {
		return f.folded(text) == f.folded(other)
	}
	return has == f.value
}

// folded returns a text as it is compared.
func (f *filter) folded(text string) string {
	if f.exact {
		return text
	}
	return ascii.Lower(text) // including addresses
}
