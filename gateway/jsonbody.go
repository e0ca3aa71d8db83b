package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"postern/core/policy"
	"postern/core/snapshot"
)

// objectChanges are the transforms of JSON objects. Values are JSON.
type objectChanges struct {
	remove                  []string
	rename                  [][2]string // name and new name
	replace, add, appending []member
	renamesFalse            bool // of responses; in requests, false counts as no value
}

func compileObjectChanges(in snapshot.BodyChanges) objectChanges {
	out := objectChanges{
		remove:    in.Remove,
		replace:   members(in.Replace, in.Types.Replace),
		add:       members(in.Add, in.Types.Add),
		appending: members(in.Append, in.Types.Append),
	}
	for _, entry := range in.Rename {
		name, value := policy.SplitChange(entry)
		out.rename = append(out.rename, [2]string{name, value})
	}
	return out
}

func members(entries []string, types []string) (out []member) {
	for i, entry := range entries {
		name, value := policy.SplitChange(entry)
		if snapshot.TypeAt(types, i) == snapshot.JSONString {
			value = string(quoted(value))
		}
		out = append(out, member{name: name, value: []byte(value)})
	}
	return out
}

// quoted returns text as a JSON string. Unlike json.Marshal it leaves <, > and & alone.
func quoted(text string) []byte {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(text) // strings are always encoded
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// object is a JSON object whose values are kept as they were written. The last of several members with one name counts,
// as in most parsers.
type object struct {
	members []member
	at      map[string]int // by name
}

// member has a nil value once it is removed.
type member struct {
	name  string
	value []byte

	appended int // values that were appended to an object
}

func (o *object) find(name string) *member {
	if at, ok := o.at[name]; ok {
		return &o.members[at]
	}
	return nil
}

func (o *object) remove(name string) bool {
	at, ok := o.at[name]
	if ok {
		o.members[at].value = nil
		delete(o.at, name)
	}
	return ok
}

func (o *object) set(name string, value []byte) {
	if m := o.find(name); m != nil {
		m.value = value
		return
	}
	o.at[name] = len(o.members)
	o.members = append(o.members, member{name: name, value: value})
}

func (o *object) write() []byte {
	size := 2
	for i := range o.members {
		size += len(o.members[i].name) + len(o.members[i].value) + len(`"":,`)
	}
	out := append(make([]byte, 0, size), '{')
	for i := range o.members {
		if o.members[i].value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, quoted(o.members[i].name)...), ':')
		out = append(out, o.members[i].value...)
	}
	return append(out, '}')
}

// apply applies the operations in their order, and reports whether one changed the object
// (kong/plugins/request-transformer/access.lua, transform_json_body;
// kong/plugins/response-transformer/body_transformer.lua, transform_json_body).
func (c *objectChanges) apply(o *object) (changed bool) {
	for _, name := range c.remove {
		changed = o.remove(name) || changed
	}
	for _, names := range c.rename {
		m := o.find(names[0])
		if m == nil || !c.renamesFalse && isFalse(m.value) {
			continue
		}
		value := m.value
		o.remove(names[0])
		o.set(names[1], value)
		changed = true
	}
	for i := range c.replace {
		if m := o.find(c.replace[i].name); m != nil && !isFalse(m.value) {
			m.value, changed = c.replace[i].value, true
		}
	}
	for i := range c.add {
		if m := o.find(c.add[i].name); m == nil || isFalse(m.value) {
			o.set(c.add[i].name, c.add[i].value)
			changed = true
		}
	}
	for i := range c.appending {
		o.appendTo(c.appending[i].name, c.appending[i].value)
		changed = true
	}
	return changed
}

func isFalse(value []byte) bool { return string(value) == "false" }

// appendTo appends a value: to an array, to a string as the second of an array, and to an object that is
// not empty under its number, as Lua does it (append_value). Other values are replaced.
func (o *object) appendTo(name string, value []byte) {
	m := o.find(name)
	if m == nil {
		o.set(name, slices.Concat([]byte("["), value, []byte("]")))
		return
	}
	inner := bytes.TrimSpace(m.value[1:max(1, len(m.value)-1)])
	switch first := m.value[0]; {
	case first == '[' && len(inner) > 0:
		m.value = slices.Concat([]byte("["), inner, []byte(","), value, []byte("]"))
	case first == '"':
		m.value = slices.Concat([]byte("["), m.value, []byte(","), value, []byte("]"))
	case first == '{' && len(inner) > 0:
		m.appended++
		m.value = slices.Concat([]byte("{"), inner, []byte(`,"`), strconv.AppendInt(nil, int64(m.appended), 10),
			[]byte(`":`), value, []byte("}"))
	default:
		m.value = slices.Concat([]byte("["), value, []byte("]"))
	}
}

// jsonKind is the JSON type of a text.
type jsonKind int

const (
	noJSON jsonKind = iota
	jsonObject
	jsonArray
	jsonScalar
)

// maxDepth is the depth of arrays and objects up to which Kong reads JSON (lua-cjson,
// DEFAULT_DECODE_MAX_DEPTH).
const maxDepth = 1000

// kindOf returns the kind of a text, or noJSON for a text that Kong can't read.
func kindOf(text []byte) jsonKind {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || !json.Valid(text) || !isReadable(text) {
		return noJSON
	}
	switch text[0] {
	case '{':
		return jsonObject
	case '[':
		return jsonArray
	}
	return jsonScalar
}

// isReadable reports whether valid JSON is nested no deeper than maxDepth and has both halves of every
// surrogate pair.
func isReadable(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
		case '}', ']':
			depth--
		case '"':
			end := endOfString(text, i)
			if !pairsSurrogates(text[i:end]) {
				return false
			}
			i = end - 1
		}
	}
	return true
}

// endOfString returns the position after the string that begins at a position in valid JSON.
func endOfString(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func pairsSurrogates(text []byte) bool {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if text[i] != 'u' {
			continue
		}
		code := hexOf(text[i+1:])
		i += 4
		switch {
		case code >= 0xdc00 && code <= 0xdfff:
			return false
		case code < 0xd800 || code > 0xdfff:
			continue
		case len(text) < i+7 || text[i+1] != '\\' || text[i+2] != 'u':
			return false
		}
		if low := hexOf(text[i+3:]); low < 0xdc00 || low > 0xdfff {
			return false
		}
		i += 6
	}
	return true
}

// hexOf returns the number that four hexadecimal digits are.
func hexOf(digits []byte) (code int) {
	for _, c := range digits[:4] {
		code = code<<4 | int(hexValue(c))
	}
	return code
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// parseObject reads the members of a valid JSON object.
func parseObject(text []byte) *object {
	out := &object{at: map[string]int{}}
	text = bytes.TrimLeft(text, " \t\r\n")
	for i := 1; ; {
		i = skipBlanks(text, i)
		switch text[i] {
		case '}':
			return out
		case ',':
			i++
			continue
		}
		end := endOfString(text, i)
		name := unquoted(text[i:end])
		i = skipBlanks(text, skipBlanks(text, end)+1)
		end = endOfValue(text, i)
		out.remove(name)
		out.set(name, text[i:end])
		i = end
	}
}

func unquoted(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var out string
	_ = json.Unmarshal(text, &out) // the text is valid
	return out
}

func skipBlanks(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n' {
		at++
	}
	return at
}

// endOfValue returns the position after the value that begins at a position in a valid object.
func endOfValue(text []byte, at int) int {
	for depth := 0; ; at++ {
		switch text[at] {
		case '"':
			if at = endOfString(text, at); depth == 0 {
				return at
			}
			at--
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return at
			} else if depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
		}
	}
}
