package page

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"postern/core/contract"
)

// Condition makes a change only if the object is still the one that the form shows.
func (v *Visit) Condition() contract.Condition {
	return contract.Condition{IfMatch: v.Posted("revision")}
}

// Fill sets members of the body of a request, by their JSON names, to what the form has under these names. A
// member that the page doesn't name stays as it is, whatever is sent. Space around a text is left out.
func (v *Visit) Fill(body any, members ...string) {
	into, known := reflect.ValueOf(body).Elem(), map[string]contract.Member{}
	for _, m := range contract.MembersOfBody(into.Type()) {
		known[m.Name] = m
	}
	for _, name := range members {
		m, ok := known[name]
		if !ok {
			panic(fmt.Sprintf("pages: %T doesn't have %s", body, name))
		}
		member := into.FieldByIndex(m.Index)
		if member.Kind() == reflect.Pointer {
			member.Set(reflect.New(m.Elem()))
			member = member.Elem()
		}
		switch value := member.Addr().Interface().(type) {
		case *string:
			*value = strings.TrimSpace(v.Posted(name))
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
		case *[]string: // boxes, or a text with an element on each line
			*value = Lines(strings.Join(v.Gin.Request.PostForm[name], "\n"))
		case encoding.TextUnmarshaler:
			if err := value.UnmarshalText([]byte(v.Posted(name))); err != nil {
				panic(fmt.Sprintf("pages: %s of %T: %v", name, body, err)) // types of the contract take any text
			}
		default:
			panic(fmt.Sprintf("pages: a form can't set %s of %T", name, body))
		}
	}
}

// postedNumber returns a whole number, and false for an empty field. What isn't a number is -1, which rules refuse
// together with other invalid fields.
func (v *Visit) postedNumber(name string) (int, bool) {
	text := strings.TrimSpace(v.Posted(name))
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = -1
	}
	return n, true
}
