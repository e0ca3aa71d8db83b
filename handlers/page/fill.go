package page

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"postern/core/contract"
	"postern/views/ui"
)

// Condition allows a change only if the object is still the one that the form shows.
func (v *Visit) Condition() contract.Condition {
	return contract.Condition{IfMatch: v.Posted("revision")}
}

// Fill sets members of the body of a request, by their JSON names, to the form's values with these names. A member that
// the page doesn't name stays unchanged, whatever is sent. Space around a text is left out, and a text for a name
// becomes one.
func (v *Visit) Fill(body any, members ...string) {
	into := reflect.ValueOf(body).Elem()
	for _, m := range membersOf(into.Type(), members) {
		name, member := m.Name, into.FieldByIndex(m.Index)
		if member.Kind() == reflect.Pointer {
			member.Set(reflect.New(m.Elem()))
			member = member.Elem()
		}
		switch value := member.Addr().Interface().(type) {
		case *string:
			*value = strings.TrimSpace(v.Posted(name))
			if m.Slug {
				*value = contract.Slug(*value)
			}
		case *contract.Optional[string]: // an empty text is null
			*value = contract.Null[string]()
			if text := strings.TrimSpace(v.Posted(name)); text != "" {
				*value = contract.Sent(text)
			}
		case *contract.Secret: // pages never show one, so an empty field keeps it
			*value = contract.Secret(strings.TrimSpace(v.Posted(name)))
			if *value == "" {
				into.FieldByIndex(m.Index).SetZero()
			}
		case *bool:
			*value = v.Posted(name) == "true"
		case *int:
			if n, posted := v.postedNumber(name); posted {
				*value = n
			} else {
				into.FieldByIndex(m.Index).SetZero()
			}
		case *contract.Metadata:
			*value = contract.ParseMetadata(v.Posted(name))
		case *[]string: // boxes, or a text with an element on each line
			*value = Lines(strings.Join(v.Gin.Request.PostForm[name], "\n"))
		case *[]contract.RetryCondition: // boxes
			*value = []contract.RetryCondition{}
			for _, one := range v.Gin.Request.PostForm[name] {
				*value = append(*value, contract.RetryCondition(one))
			}
		case *[]contract.StatusRange: // a text with commas or spaces between the ranges; without any, the default
			*value = nil
			for one := range strings.FieldsFuncSeq(v.Posted(name), isListSpace) {
				*value = append(*value, contract.StatusRange(one))
			}
		case encoding.TextUnmarshaler:
			if err := value.UnmarshalText([]byte(v.Posted(name))); err != nil {
				panic(fmt.Sprintf("pages: %s of %T: %v", name, body, err)) // types of the contract take any text
			}
		default:
			if member.Kind() != reflect.String {
				panic(fmt.Sprintf("pages: a form can't set %s of %T", name, body))
			}
			member.SetString(strings.TrimSpace(v.Posted(name))) // one of several values
		}
	}
}

func isListSpace(r rune) bool { return r == ',' || unicode.IsSpace(r) }

// membersOf returns members of a body, or of an object of the contract, by their JSON names.
func membersOf(of reflect.Type, names []string) []contract.Member {
	known := contract.MembersOfBody(of)
	members := make([]contract.Member, len(names))
	for i, name := range names {
		at := slices.IndexFunc(known, func(m contract.Member) bool { return m.Name == name })
		if at < 0 {
			panic(fmt.Sprintf("pages: %s doesn't have %s", of, name))
		}
		members[i] = known[at]
	}
	return members
}

// TextsOf returns the texts of members of a body or an object, by their JSON names. One that is nil is empty.
func TextsOf(object any, members ...string) []string {
	from, texts := reflect.ValueOf(object), make([]string, len(members))
	for i, m := range membersOf(from.Type(), members) {
		switch value := from.FieldByIndex(m.Index).Interface().(type) {
		case string:
			texts[i] = value
		case *string:
			if value != nil {
				texts[i] = *value
			}
		default:
			panic(fmt.Sprintf("pages: %s of %T isn't a text", m.Name, object))
		}
	}
	return texts
}

// TextFields are fields for members that are texts, with their mistakes: what Fill reads. Their IDs begin with id.
func (m *Errors) TextFields(id string, object any, members ...string) []ui.Field {
	fields := make([]ui.Field, len(members))
	for i, text := range TextsOf(object, members...) {
		fields[i] = ui.Field{
			ID:           id + "-" + members[i],
			Name:         members[i],
			Label:        FieldLabel(members[i]),
			Value:        m.Value("/"+members[i], text),
			Autocomplete: "off",
		}
	}
	return fields
}

// Texts returns members of a body, by their JSON names, as a form posts them: a list has an element for each text.
func Texts(body any, members ...string) map[string][]string {
	from, out := reflect.ValueOf(body), map[string][]string{}
	for _, m := range contract.MembersOfBody(from.Type()) {
		if !slices.Contains(members, m.Name) {
			continue
		}
		switch value := from.FieldByIndex(m.Index); value.Kind() {
		case reflect.Slice:
			for i := range value.Len() {
				out[m.Name] = append(out[m.Name], fmt.Sprint(value.Index(i)))
			}
		default:
			out[m.Name] = []string{fmt.Sprint(value)}
		}
	}
	return out
}

// postedNumber returns a whole number, and false for an empty field. Text that isn't a number is NoNumber.
func (v *Visit) postedNumber(name string) (int, bool) {
	text := strings.TrimSpace(v.Posted(name))
	if text == "" {
		return 0, false
	}
	n, ok := WholeNumber(text)
	if !ok {
		n = NoNumber
	}
	return int(n), true
}
