package ascode

import (
	"cmp"
	"encoding/csv"
	"net/url"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
)

// Field is a field of a form, or of the query of a page, with where its value goes.
type Field struct {
	Name   string // in the form
	Member string // of the body, or of the query; "" if it is in the path, or in neither
	Flag   string // of the command, such as --owner; "" if it is an argument, or nothing

	keep bool // an empty one is sent too, because the form empties what is stored
	need bool // the operation refuses to do without it

	otherwise string // stands for an empty one

	read func(Field, url.Values) (member any, flags [][]string)
	with []string // other fields of the form that it reads
}

// With names other fields of the form that the field reads.
func (f Field) With(names ...string) Field {
	f.with = append(f.with, names...)
	return f
}

// Keep is for forms of what exists: an empty field empties it.
func (f Field) Keep() Field {
	f.keep = true
	return f
}

// Need is for fields that are required: a placeholder stands for an empty one.
func (f Field) Need() Field {
	f.need = true
	return f
}

// Or is for fields that have a default: it stands for an empty one.
func (f Field) Or(otherwise string) Field {
	f.otherwise = otherwise
	return f
}

// value is the value of the field in a form, and the flags of the command for it; nil and none if it is not sent.
func (f Field) value(form url.Values) (member any, flags [][]string) { return f.read(f, form) }

// Placeholder is printed in place of a value that is missing or secret.
func Placeholder(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// flag is the field's flag with a value, nothing for a field without one.
func (f Field) flag(value string) [][]string {
	if f.Flag == "" {
		return nil
	}
	return [][]string{{f.Flag, value}}
}

// Text is a string.
func Text(name, member, flag string) Field {
	return Field{Name: name, Member: member, Flag: flag, read: func(f Field, form url.Values) (any, [][]string) {
		value := cmp.Or(strings.TrimSpace(form.Get(f.Name)), f.otherwise)
		switch {
		case value == "" && f.need:
			value = Placeholder(f.Name)
		case value == "" && !f.keep:
			return nil, nil
		}
		return value, f.flag(value)
	}}
}

// Name is a Text that the page turns into a name.
func Name(name, member, flag string) Field { return slugged(Text(name, member, flag)) }

func slugged(field Field) Field {
	read := field.read
	field.read = func(f Field, form url.Values) (any, [][]string) {
		if typed := strings.TrimSpace(form.Get(f.Name)); typed != "" {
			form = url.Values{f.Name: {contract.Slug(typed)}}
		}
		return read(f, form)
	}
	return field
}

// Nullable is a string that is null when empty. The command takes "".
func Nullable(name, member, flag string) Field {
	field := Text(name, member, flag).Keep()
	read := field.read
	field.read = func(f Field, form url.Values) (any, [][]string) {
		value, flags := read(f, form)
		if value == "" {
			value = null{}
		}
		return value, flags
	}
	return field
}

// null is a member that is sent as null.
type null struct{}

// MarshalJSON returns null.
func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Secret is a string that lines never contain. file is the flag for a file with it.
func Secret(name, member, file string) Field {
	return Field{Name: name, Member: member, Flag: file, read: func(f Field, form url.Values) (any, [][]string) {
		if form.Get(f.Name) == "" && !f.need {
			return nil, nil
		}
		return Placeholder(f.Name), f.flag("FILE")
	}}
}

// Fixed is a member that the form has no field for.
func Fixed(member string, value any, flag ...string) Field {
	return Field{Member: member, read: func(Field, url.Values) (any, [][]string) { return value, alone(flag) }}
}

// alone is one flag with what follows it, if there is any.
func alone(flag []string) [][]string {
	if len(flag) == 0 {
		return nil
	}
	return [][]string{flag}
}

// Bool is a checkbox whose value is true. flags are those of the command for true and false,
// as in --on, --off; one alone is a flag that takes a value.
func Bool(name, member string, flags ...string) Field {
	return Field{Name: name, Member: member, read: func(f Field, form url.Values) (any, [][]string) {
		on := form.Get(f.Name) == "true"
		switch {
		case !on && !f.keep:
			return nil, nil
		case len(flags) == 0:
			return on, nil
		case on:
			return on, [][]string{flags[:1]}
		case len(flags) > 1:
			return on, [][]string{flags[1:]}
		}
		return on, [][]string{{flags[0] + "=false"}}
	}}
}

// Number is a whole number, times unit in the body. The command gets its digits, before suffix.
func Number(name, member, flag string, unit int64, suffix string) Field {
	return Field{Name: name, Member: member, Flag: flag, read: func(f Field, form url.Values) (any, [][]string) {
		typed := cmp.Or(strings.TrimSpace(form.Get(f.Name)), f.otherwise)
		switch {
		case typed == "" && f.keep:
			return null{}, f.flag("none")
		case typed == "":
			return nil, nil
		}
		n, ok := page.WholeNumber(typed)
		if !ok {
			return typed, f.flag(typed) // refused by the server, which says why
		}
		return n * unit, f.flag(strconv.FormatInt(n, 10) + suffix)
	}}
}

// Day is a day, which ends with its last second in UTC.
func Day(name, member, flag string) Field {
	return Field{Name: name, Member: member, Flag: flag, read: func(f Field, form url.Values) (any, [][]string) {
		typed := form.Get(f.Name)
		begins, err := time.Parse(time.DateOnly, typed)
		switch {
		case typed == "" && f.keep:
			return null{}, f.flag("never")
		case typed == "":
			return nil, nil
		case err != nil:
			return typed, f.flag(typed)
		}
		ends := begins.Add(24*time.Hour - time.Second).Format(time.RFC3339)
		return ends, f.flag(ends)
	}}
}

// PerLine is a list with an element on each line, or of boxes that are ticked. The command has a flag for each.
func PerLine(name, member, flag string) Field {
	return list(name, member, flag, false, func(f Field, form url.Values) []string {
		var out []string
		for line := range strings.Lines(strings.Join(form[f.Name], "\n")) {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
		return out
	})
}

// Words is a list of words between white space. The command has a flag with all.
func Words(name, member, flag string) Field {
	return list(name, member, flag, true, func(f Field, form url.Values) []string {
		return strings.Fields(form.Get(f.Name))
	})
}

// Several is a list of boxes that are ticked. The command has a flag for each.
func Several(name, member, flag string) Field {
	return list(name, member, flag, false, func(f Field, form url.Values) []string { return form[f.Name] })
}

// Joined is PerLine or Several for a command that has one flag for all, with commas between them.
func Joined(of Field) Field {
	read := of.read
	of.read = func(f Field, form url.Values) (any, [][]string) {
		member, _ := read(f, form)
		values, ok := member.([]string)
		if !ok {
			return member, nil
		}
		return member, f.flag(commas(values))
	}
	return of
}

// commas writes a list as flags of lists read it (RFC 4180).
func commas(values []string) string {
	if len(values) == 0 {
		return ""
	}
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write(values) // a strings.Builder takes everything
	w.Flush()
	return strings.TrimSuffix(text.String(), "\n")
}

func list(name, member, flag string, joined bool, values func(Field, url.Values) []string) Field {
	return Field{Name: name, Member: member, Flag: flag, read: func(f Field, form url.Values) (any, [][]string) {
		all := values(f, form)
		switch {
		case len(all) == 0 && f.need:
			all = []string{Placeholder(f.Name)}
		case len(all) == 0 && !f.keep:
			return nil, nil
		case len(all) == 0:
			return []string{}, f.flag("")
		}
		if joined {
			return all, f.flag(commas(all))
		}
		var flags [][]string
		for _, one := range all {
			flags = append(flags, f.flag(one)...)
		}
		return all, flags
	}}
}

// Limits are the limits in the fields named prefix and window. what stands before the
// window in the flag, such as key:. A field that is kept clears the limits with clear.
func Limits(prefix, member, flag, what string, clear ...string) Field {
	return limits("", member, flag, what, clear, func(form url.Values, window string) string {
		return form.Get(prefix + window)
	}).With(windowsOf(prefix)...)
}

// windowsOf are the fields for each window of limits.
func windowsOf(prefix string) []string {
	var names []string
	for w := snapshot.Second; w < snapshot.Windows; w++ {
		names = append(names, prefix+w.String())
	}
	return names
}

// LimitRows is Limits for a form with a row for each limit. of is the thing that the rows count.
func LimitRows(of, member, flag, what string, clear ...string) Field {
	return limits("limit_of", member, flag, what, clear, func(form url.Values, window string) string {
		calls, windows, subjects := form["limit_calls"], form["limit_window"], form["limit_of"]
		for i := range min(len(calls), len(windows), len(subjects)) {
			if subjects[i] == of && windows[i] == window && strings.TrimSpace(calls[i]) != "" {
				return calls[i]
			}
		}
		return ""
	}).With("limit_calls", "limit_window")
}

func limits(
	name, member, flag, what string, clear []string, typedIn func(form url.Values, window string) string,
) Field {
	return Field{Name: name, Member: member, Flag: flag, read: func(f Field, form url.Values) (any, [][]string) {
		calls := &Object{}
		var flags [][]string
		for w := snapshot.Second; w < snapshot.Windows; w++ {
			window := w.String()
			typed := strings.TrimSpace(typedIn(form, window))
			if typed == "" {
				continue
			}
			if n, ok := page.WholeNumber(typed); ok {
				calls.Set(window, n)
				typed = strconv.FormatInt(n, 10)
			} else {
				calls.Set(window, typed)
			}
			flags = append(flags, f.flag(what+window+"="+typed)...)
		}
		switch {
		case len(calls.names) == 0 && !f.keep:
			return nil, nil
		case len(calls.names) == 0:
			return calls, alone(clear)
		}
		return calls, flags
	}}
}

// Func is for fields that none of the others describes.
func Func(name, member string, read func(url.Values) (member any, flags [][]string)) Field {
	return Field{Name: name, Member: member, read: func(_ Field, form url.Values) (any, [][]string) {
		return read(form)
	}}
}
