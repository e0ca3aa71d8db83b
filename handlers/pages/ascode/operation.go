package ascode

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"postern/core/contract"
)

// shows is a page that shows the answer of an operation of the contract.
func shows(op contract.Described, query ...Field) Page {
	return reads(op.Describe().ID, commandOf(op), query...)
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
		switch {
		case m.Type.Kind() == reflect.Pointer, op.Describe().Method == http.MethodPut:
			fields[i] = fields[i].Keep() // of what exists
		case m.Required:
			fields[i] = fields[i].Need()
		}
	}
	return does(op.Describe().ID, commandOf(op), fields...)
}

// fieldOf is the field of a form for a member of a body.
func fieldOf(m contract.Member, flag string) Field {
	switch kind := m.Elem().Kind(); {
	case kind == reflect.Bool:
		return Bool(m.Name, m.Name, flag)
	case kind == reflect.Int:
		return Number(m.Name, m.Name, flag, 1, "")
	case kind == reflect.Slice && m.Form == "list":
		return Joined(PerLine(m.Name, m.Name, flag))
	case kind == reflect.Slice:
		return PerLine(m.Name, m.Name, flag)
	}
	return Text(m.Name, m.Name, flag)
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
