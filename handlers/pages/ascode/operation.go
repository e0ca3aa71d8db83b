package ascode

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

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
	return carriesOut(op, fieldsOf(op, members...)...)
}

// carriesOut is submits for a form some of whose fields are not as members of the body are.
func carriesOut(op contract.Described, fields ...Field) []Call {
	return does(op.Describe().ID, commandOf(op), fields...)
}

func fieldsOf(op contract.Described, members ...string) []Field {
	_, arguments := op.Describe().Words()
	known, method := op.Members(), op.Describe().Method
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
		case method == http.MethodPut && m.Enum != nil && m.Required:
			fields[i] = fields[i].Need() // the enum has no empty value
		case method == http.MethodPut, method == http.MethodPatch && m.Type != m.Elem():
			fields[i] = fields[i].Keep() // of what exists
		case m.Required:
			fields[i] = fields[i].Need()
		}
	}
	return fields
}

// allFields are fields for all members of the body of an operation. The given ones stand for their members.
func allFields(op contract.Described, given ...Field) (fields []Field) {
	for _, m := range op.Members() {
		at := slices.IndexFunc(given, func(f Field) bool { return f.Member == m.Name })
		switch {
		case m.Place != contract.InBody:
		case at >= 0:
			fields = append(fields, given[at])
		default:
			fields = append(fields, fieldsOf(op, m.Name)...)
		}
	}
	return fields
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

// fieldOf is the field of a form for a member of a body.
func fieldOf(m contract.Member, flag string) Field {
	member := m.Name
	if m.Within != "" {
		member = m.Within + "." + m.Name
	}
	switch of := m.Elem(); {
	case of == reflect.TypeFor[contract.Limits]():
		return limitsField(m.Name, flag)
	case of == reflect.TypeFor[time.Time]():
		return Day(m.Name, member, flag)
	case of == reflect.TypeFor[contract.Secret]():
		return Secret(m.Name, member, flag)
	case m.Type == reflect.TypeFor[contract.Optional[string]]():
		return Nullable(m.Name, member, flag)
	case of.Kind() == reflect.Bool:
		return Bool(m.Name, member, flag)
	case m.Form == "milliseconds":
		return Number(m.Name, member, flag, 1, "ms")
	case of.Kind() == reflect.Int:
		return Number(m.Name, member, flag, 1, "")
	case of == reflect.TypeFor[[]contract.RetryCondition]():
		return conditions(Joined(PerLine(m.Name, member, flag)))
	case of == reflect.TypeFor[[]contract.StatusRange]():
		return statuses(m.Name, member, flag)
	case of.Kind() == reflect.Slice && m.Form == "list":
		return Joined(PerLine(m.Name, member, flag))
	case of.Kind() == reflect.Slice:
		return PerLine(m.Name, member, flag)
	}
	if m.Slug {
		return Name(m.Name, member, flag)
	}
	return Text(m.Name, member, flag)
}

// conditions writes the elements of a list as those of retries are in JSON.
func conditions(of Field) Field {
	read := of.read
	of.read = func(f Field, form url.Values) (any, [][]string) {
		member, flags := read(f, form)
		texts, ok := member.([]string)
		if !ok {
			return member, flags
		}
		out := make([]contract.RetryCondition, len(texts))
		for i, text := range texts {
			out[i] = contract.RetryCondition(text)
		}
		return out, flags
	}
	return of
}

// statuses is a text with commas or spaces between ranges of statuses. An empty one is the default.
func statuses(name, member, flag string) Field {
	return Field{Name: name, Member: member, Flag: flag, read: func(f Field, form url.Values) (any, [][]string) {
		var out []contract.StatusRange
		var texts []string
		for text := range strings.FieldsFuncSeq(form.Get(f.Name), func(r rune) bool {
			return r == ',' || unicode.IsSpace(r)
		}) {
			out, texts = append(out, contract.StatusRange(text)), append(texts, text)
		}
		if out == nil {
			out = contract.UpstreamChecks{}.Stated().Statuses
			texts = []string{string(out[0])}
		}
		return out, f.flag(commas(texts))
	}}
}

// limitsField is Limits with one flag for all of them.
func limitsField(member, flag string) Field {
	return withOneFlag(Limits(member+"_", member, flag, "", flag, "none"))
}

// withOneFlag joins the flags of limits to one for all of them.
func withOneFlag(f Field) Field {
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

// commandOf is the command of an operation with its arguments as Call has them, such as "webhooks show {webhook}". One
// that asks before it deletes something has --yes, as in a script.
func commandOf(op contract.Described) string {
	words, arguments := op.Describe().Words()
	out := strings.Join(words, " ")
	for _, argument := range arguments {
		out += " {" + strings.ToLower(argument) + "}"
	}
	if op.Describe().Deletes != "" {
		out += " --yes"
	}
	return out
}
