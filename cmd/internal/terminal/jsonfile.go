package terminal

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
)

// ReadJSON reads the JSON object in the file of a flag, or in standard input for "-", into a struct. flag is the name
// without dashes. The error of a text that DecodeJSON refuses names the flag, the file and the place in it.
func ReadJSON(in io.Reader, flag, path string, into any) error {
	text, err := os.ReadFile(path)
	if path == "-" {
		text, err = io.ReadAll(in)
		path = StandardInput
	}
	if err != nil {
		return OfFlag(flag, CannotRead(err))
	}
	if wrong := DecodeJSON(text, into); wrong != nil {
		return UsageError(fmt.Sprintf("--%s: %s, line %d, column %d: %s", flag, path, wrong.Line, wrong.Column,
			wrong.Detail))
	}
	return nil
}

// JSONError is what is wrong with a JSON text, and where. It has the names of the text, and no types of Go.
type JSONError struct {
	Line, Column int // from 1, the column in characters
	Detail       string
}

// DecodeJSON decodes a text that has one JSON object, and nothing else, into the struct that into points to. It returns
// nil if it has. Members that the struct doesn't have are errors, since a misspelled one would be ignored otherwise. So
// are repeated ones, null where a value is expected, and an object without members. Each member of the object replaces
// that of the struct as a whole, and the struct keeps its others.
func DecodeJSON(text []byte, into any) *JSONError {
	of := jsonText(text)
	if len(bytes.TrimSpace(text)) == 0 {
		return of.wrong(0, "the text is empty, but must be a JSON object")
	}
	var anything any
	if err := json.Unmarshal(text, &anything); err != nil {
		return of.syntax(err)
	}
	r := jsonReader{in: json.NewDecoder(bytes.NewReader(text)), text: of}
	r.in.UseNumber()
	if wrong := r.value(reflect.TypeOf(into).Elem(), ""); wrong != nil {
		return wrong
	}
	object, _ := anything.(map[string]any)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(object)), changes) {
		return of.wrong(0, "the object has no members that can be changed")
	}
	whole := reflect.ValueOf(into).Elem()
	read := reflect.New(whole.Type())
	if json.Unmarshal(text, read.Interface()) != nil { // of a member's own type, which the reader can't know
		return of.wrong(0, "a member has a value that isn't valid")
	}
	for _, field := range reflect.VisibleFields(whole.Type()) {
		if _, found := object[memberName(field)]; found {
			whole.FieldByIndex(field.Index).Set(read.Elem().FieldByIndex(field.Index))
		}
	}
	return nil
}

// changes reports whether a member changes something: an answer that show --json prints has others, too.
func changes(member string) bool { return member != "etag" && member != "warnings" }

// jsonText is a text with places.
type jsonText []byte

// wrong returns the error at an offset, in bytes.
func (t jsonText) wrong(at int, detail string) *JSONError {
	before := t[:min(at, len(t))]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return &JSONError{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[begin:]) + 1, detail}
}

// syntax returns the error of a text that isn't JSON.
func (t jsonText) syntax(err error) *JSONError {
	at := 0
	if found, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(int(found.Offset)-1, 0) // which is after the character
	}
	switch text := err.Error(); {
	case strings.Contains(text, "unexpected end"):
		return t.wrong(len(t), "the JSON isn't complete. Check its quotes and brackets")
	case strings.Contains(text, "after top-level value"):
		return t.wrong(at, "there is more text after the JSON value. Remove it")
	}
	return t.wrong(at, "this isn't valid JSON. Check its commas, quotes and brackets")
}

// jsonReader compares a text, which is JSON, with a type.
type jsonReader struct {
	in   *json.Decoder
	text jsonText
}

// next returns where the next token begins.
func (r *jsonReader) next() int {
	at := int(r.in.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	return at
}

// value reads one value of a type. path is what the text calls it, such as rules[0].path.
func (r *jsonReader) value(t reflect.Type, path string) *JSONError {
	at := r.next()
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	if decodesItself(t) || t.Kind() == reflect.Interface {
		var skipped json.RawMessage
		if r.in.Decode(&skipped) != nil || json.Unmarshal(skipped, reflect.New(t).Interface()) != nil {
			return r.text.wrong(at, path+" has a value that isn't valid")
		}
		return nil
	}
	token, err := r.in.Token()
	if err != nil {
		return r.text.syntax(err)
	}
	must := ""
	switch token := token.(type) {
	case nil:
		if pointer {
			return nil
		}
		must = wanted(t)
	case json.Delim:
		switch {
		case token == '{' && t.Kind() == reflect.Struct:
			return r.members(fieldsOf(t), path)
		case token == '{' && t.Kind() == reflect.Map:
			return r.entries(t.Elem(), path)
		case token == '[' && t.Kind() == reflect.Slice:
			return r.elements(t.Elem(), path)
		}
		must = wanted(t)
	case json.Number:
		_, whole := strconv.ParseInt(token.String(), 10, 64)
		if is := wanted(t); is != "a number" && (is != "a whole number" || whole != nil) {
			must = is
		}
	case string:
		if t.Kind() != reflect.String {
			must = wanted(t)
		}
	case bool:
		if t.Kind() != reflect.Bool {
			must = wanted(t)
		}
	}
	if must == "" {
		return nil
	}
	if path == "" {
		path = "the text"
	}
	return r.text.wrong(at, fmt.Sprintf("%s must be %s, not %s", path, must, called(token)))
}

// members reads the members of an object, after its bracket.
func (r *jsonReader) members(known map[string]reflect.Type, path string) *JSONError {
	seen := map[string]bool{}
	for r.in.More() {
		at := r.next()
		name, wrong := r.name(seen, path)
		if wrong != nil {
			return wrong
		}
		t, ok := known[name]
		if !ok {
			return r.text.wrong(at, fmt.Sprintf("unknown member %q%s. Its members are %s", name, within(path),
				english.WordSeries(slices.Sorted(maps.Keys(known)), "and")))
		}
		if wrong := r.value(t, strings.TrimPrefix(path+"."+name, ".")); wrong != nil {
			return wrong
		}
	}
	return r.end()
}

// entries reads the members of an object with any names.
func (r *jsonReader) entries(t reflect.Type, path string) *JSONError {
	seen := map[string]bool{}
	for r.in.More() {
		name, wrong := r.name(seen, path)
		if wrong == nil {
			wrong = r.value(t, strings.TrimPrefix(path+"."+name, "."))
		}
		if wrong != nil {
			return wrong
		}
	}
	return r.end()
}

// name reads the name of a member.
func (r *jsonReader) name(seen map[string]bool, path string) (string, *JSONError) {
	at := r.next()
	token, err := r.in.Token()
	if err != nil {
		return "", r.text.syntax(err)
	}
	name, _ := token.(string)
	if seen[name] {
		return "", r.text.wrong(at, fmt.Sprintf("the member %q%s appears twice", name, within(path)))
	}
	seen[name] = true
	return name, nil
}

// elements reads the elements of a list, after its bracket.
func (r *jsonReader) elements(t reflect.Type, path string) *JSONError {
	for i := 0; r.in.More(); i++ {
		if wrong := r.value(t, fmt.Sprintf("%s[%d]", path, i)); wrong != nil {
			return wrong
		}
	}
	return r.end()
}

// end reads the closing bracket.
func (r *jsonReader) end() *JSONError {
	if _, err := r.in.Token(); err != nil {
		return r.text.syntax(err)
	}
	return nil
}

func within(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

// decodesItself reports whether a type has its own form in JSON.
func decodesItself(t reflect.Type) bool {
	into := reflect.PointerTo(t)
	return into.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		into.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// fieldsOf returns the types of a struct's members, by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for field := range t.Fields() {
		switch name := memberName(field); {
		case field.Anonymous && name == "":
			maps.Copy(out, fieldsOf(field.Type))
		case name != "" && name != "-":
			out[name] = field.Type
		}
	}
	return out
}

// memberName returns the name of a field in JSON.
func memberName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// wanted says what a value of a type must be.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// called says what a token is, or the value that it begins.
func called(token json.Token) string {
	switch token := token.(type) {
	case nil:
		return "null"
	case json.Delim:
		if token == '[' {
			return "a list"
		}
		return "an object"
	case string:
		return "a string"
	case bool:
		return strconv.FormatBool(token)
	}
	return fmt.Sprint(token)
}
