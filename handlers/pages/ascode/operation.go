package ascode

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
)

// shows is a page that shows the answer of an operation of the contract.
func shows(op contract.Described, query ...Field) Page {
	return reads(op.Describe().ID, commandOf(op), query...)
}

// alsoShows adds the answer of another operation to a page.
func (p Page) alsoShows(op contract.Described, query ...Field) Page {
	return p.and(op.Describe().ID, commandOf(op), query...)
}

// submits is a form that carries out an operation of the contract. members are those of the body that it sets, in the
// order of its fields, which have their names.
func submits(op contract.Described, members ...string) []Call {
	_, arguments := op.Describe().Words()
	known := op.Members()
	fields := make([]Field, len(members))
	for i, name := range members {
		at := slices.IndexFunc(known, func(m contract.Member) bool {
			return m.Place == contract.InBody && m.Name == name
		})
		m := known[at]
		flag := ""
		if m.Flag != "" && !slices.Contains(arguments, m.Argument()) {
			flag = "--" + m.Flag
		}
		fields[i] = fieldOf(m, flag)
	}
	return does(op.Describe().ID, commandOf(op), fields...)
}

// when and note are for forms that do one of several things, depending on what was filled in.
func (c Call) when(applies func(url.Values) bool) Call {
	c.When = applies
	return c
}

func (c Call) note(text string) Call {
	c.Note = text
	return c
}

// fieldOf is the field of a form for a member of a body. One that is a pointer belongs to a form of what exists, unless
// it is a time: a form has its day.
func fieldOf(m contract.Member, flag string) Field {
	var f Field
	kept := m.Type.Kind() == reflect.Pointer
	switch kind := m.Elem().Kind(); {
	case m.Elem() == reflect.TypeFor[time.Time]():
		f, kept = Day(m.Name, m.Name, flag), false
	case m.Type == reflect.TypeFor[contract.Optional[string]]():
		f = Nullable(m.Name, m.Name, flag)
	case kind == reflect.Bool:
		f = Bool(m.Name, m.Name, flag)
	case kind == reflect.Slice:
		f = Several(m.Name, m.Name, flag)
	default:
		f = Text(m.Name, m.Name, flag)
	}
	if m.Form == "list" {
		f = Joined(f)
	}
	if kept {
		f = f.Keep()
	}
	if m.Required {
		f = f.Need()
	}
	return f
}

// commandOf is the command of an operation with its arguments as Call has them, such as "webhooks show {webhook}".
func commandOf(op contract.Described) string {
	words, arguments := op.Describe().Words()
	out := strings.Join(words, " ")
	for _, argument := range arguments {
		out += " {" + strings.ToLower(argument) + "}"
	}
	return out
}
