package gateway

import (
	"slices"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
)

// queryChanges are the transforms of a query. A nil *queryChanges changes nothing.
type queryChanges struct {
	remove                          []string
	rename, replace, add, appending [][2]string // name and value; of rename the new name
}

func compileQueryChanges(in snapshot.Changes) *queryChanges {
	if in.None() {
		return nil
	}
	pairs := func(list []string) (out [][2]string) {
		for _, entry := range list {
			name, value := policy.SplitChange(entry)
			out = append(out, [2]string{name, value})
		}
		return out
	}
	return &queryChanges{
		remove:    in.Remove,
		rename:    pairs(in.Rename),
		replace:   pairs(in.Replace),
		add:       pairs(in.Add),
		appending: pairs(in.Append),
	}
}

// argument is a name in a query with its values.
type argument struct {
	name   string
	values []argumentValue
}

// argumentValue is a value; flag is a name without an equals sign.
type argumentValue struct {
	text string
	flag bool
}

// apply returns the changed query with its question mark, "" for an empty one. As Kong does, it
// writes the whole query again: arguments in the order of their escaped names, each with its values
// (kong/plugins/request-transformer/access.lua, transform_querystrings; kong/pdk/service/request.lua,
// make_ordered_args).
func (q *queryChanges) apply(query string) string {
	if q == nil {
		return query
	}
	args, _ := q.change(parseArguments(strings.TrimPrefix(query, "?")))
	if out := writeArguments(args); out != "" || !strings.HasSuffix(query, "?") {
		return out
	}
	return "?" // as Kong leaves a question mark at the end (kong/runloop/handler.lua, access.after)
}

// applyToForm returns a changed form (kong/plugins/request-transformer/access.lua,
// transform_url_encoded_body). One that is not changed stays as it is pairs, unless something is to be
// removed.
func (q *queryChanges) applyToForm(form string) string {
	args, changed := q.change(parseArguments(form))
	if !changed && (form == "" || len(q.remove) == 0) {
		return form
	}
	return strings.TrimPrefix(writeArguments(args), "?")
}

// change applies the operations to arguments, and reports whether one changed them.
func (q *queryChanges) change(args []argument) (out []argument, changed bool) {
	for _, name := range q.remove {
		if argumentAt(args, name) >= 0 {
			args, changed = withoutArgument(args, name), true
		}
	}
	for _, pair := range q.rename {
		if at := argumentAt(args, pair[0]); at >= 0 && pair[0] != pair[1] {
			values := args[at].values
			args = append(withoutArgument(withoutArgument(args, pair[0]), pair[1]), argument{pair[1], values})
			changed = true
		}
	}
	for _, pair := range q.replace {
		if at := argumentAt(args, pair[0]); at >= 0 {
			args[at].values, changed = []argumentValue{{text: pair[1]}}, true
		}
	}
	for _, pair := range q.add {
		if argumentAt(args, pair[0]) < 0 {
			args, changed = append(args, argument{pair[0], []argumentValue{{text: pair[1]}}}), true
		}
	}
	for _, pair := range q.appending {
		at := argumentAt(args, pair[0])
		if at < 0 {
			args, at = append(args, argument{name: pair[0]}), len(args)
		}
		if values := args[at].values; len(values) == 1 && values[0].flag {
			args[at].values = nil // append_value drops values that are neither text nor a list
		}
		args[at].values, changed = append(args[at].values, argumentValue{text: pair[1]}), true
	}
	return args, changed
}

func argumentAt(args []argument, name string) int {
	return slices.IndexFunc(args, func(a argument) bool { return a.name == name })
}

func withoutArgument(args []argument, name string) []argument {
	return slices.DeleteFunc(args, func(a argument) bool { return a.name == name })
}

// parseArguments reads a query as ngx.req.get_uri_args does: arguments without a name are left out.
func parseArguments(query string) (args []argument) {
	for part := range strings.SplitSeq(query, "&") {
		name, text, valued := strings.Cut(part, "=")
		if name = policy.UnescapeArgument(name); name == "" {
			continue
		}
		value := argumentValue{text: policy.UnescapeArgument(text), flag: !valued}
		if at := argumentAt(args, name); at >= 0 {
			args[at].values = append(args[at].values, value)
		} else {
			args = append(args, argument{name, []argumentValue{value}})
		}
	}
	return args
}

func writeArguments(args []argument) string {
	pairs := make([]string, 0, len(args))
	for _, a := range args {
		var out strings.Builder
		for i, value := range a.values {
			if i > 0 {
				out.WriteByte('&')
			}
			escapeArgument(&out, a.name)
			if !value.flag {
				out.WriteByte('=')
				escapeArgument(&out, value.text)
			}
		}
		pairs = append(pairs, out.String())
	}
	if len(pairs) == 0 {
		return ""
	}
	slices.Sort(pairs)
	return "?" + strings.Join(pairs, "&")
}

// escapeArgument writes text as ngx.encode_args does (lua-nginx-module, ngx_http_lua_escape_uri).
func escapeArgument(out *strings.Builder, text string) {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"#$%&+,/:;<=>?@[\\]^`{|}", c) >= 0 {
			out.WriteByte('%')
			out.WriteByte(digits[c>>4])
			out.WriteByte(digits[c&15])
		} else {
			out.WriteByte(c)
		}
	}
}
