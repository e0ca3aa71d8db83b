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

// submits is a form that carries out an operation of the contract. members are those of the body that it sets, in the
// order of its fields, which have their names.
func submits(op contract.Described, members ...string) []Call {
	return carriesOut(op, fieldsOf(op, members...)...)
}

// carriesOut is submits for a form some of whose fields are not as members of the body are.
func carriesOut(op contract.Described, fields ...Field) []Call {
	return does(op.Describe().ID, commandOf(op), fields...)
}

func fieldsOf(op contract.Described, members ...string) []Field {
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
	return fields
}

// fieldOf is the field of a form for a member of a body. One that may be absent belongs to a form of what exists.
func fieldOf(m contract.Member, flag string) Field {
	var f Field
	switch of := m.Elem(); {
	case of == reflect.TypeFor[contract.Limits]():
		f = limitsField(m.Name, flag)
	case of == reflect.TypeFor[time.Time]():
		f = Day(m.Name, m.Name, flag)
	case of.Kind() == reflect.Bool:
		f = Bool(m.Name, m.Name, flag)
	case of.Kind() == reflect.Slice && m.Form == "list":
		f = Joined(PerLine(m.Name, m.Name, flag))
	case of.Kind() == reflect.Slice:
		f = PerLine(m.Name, m.Name, flag)
	default:
		f = Text(m.Name, m.Name, flag)
	}
	if m.Type != m.Elem() && m.Type != reflect.TypeFor[*time.Time]() { // a time of what is created
		f = f.Keep()
	}
	if m.Required {
		f = f.Need()
	}
	return f
}

// limitsField is Limits with one flag for all of them.
func limitsField(member, flag string) Field {
	f := Limits(member+"_", member, flag, "", flag, "none")
	read := f.read
	f.read = func(f Field, form url.Values) (any, [][]string) {
		calls, flags := read(f, form)
		if len(flags) < 2 {
			return calls, flags
		}
		pairs := make([]string, len(flags))
		for i, one := range flags {
			pairs[i] = one[1]
		}
		return calls, f.flag(commas(pairs))
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
