// Package listjson encodes JSON in which a list without items is [], never null.
//
// encoding/json writes null for a nil slice. The JSON API refuses null for a list, and never answers it. The server and
// its client encode with this package, so that none of their callers has to think of it.
package listjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"sync"
)

// Marshal returns the JSON of v (RFC 8259). It fails as json.Marshal does.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	if err := Encode(&out, v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Encode writes the JSON of v and a newline, without the escapes that are only for HTML. It doesn't change v.
func Encode(w io.Writer, v any) error {
	if v != nil {
		own := reflect.New(reflect.TypeOf(v)).Elem()
		own.Set(reflect.ValueOf(v))
		fill(own)
		v = own.Interface()
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// fill replaces the nil slices that a value has at any depth. The value is the caller's own: what it points to may be
// shared, and is copied before it is changed.
func fill(v reflect.Value) {
	if !v.CanSet() && v.Kind() != reflect.Struct || !hasLists(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		for i := range own.Len() {
			fill(own.Index(i))
		}
		v.Set(own)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		own := reflect.New(v.Elem().Type())
		own.Elem().Set(v.Elem())
		fill(own.Elem())
		if v.Kind() == reflect.Interface {
			own = own.Elem()
		}
		v.Set(own)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for at := v.MapRange(); at.Next(); {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(at.Value())
			fill(value)
			own.SetMapIndex(at.Key(), value)
		}
		v.Set(own)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); !isLeftOut(v.Type().Field(i), field) {
				fill(field)
			}
		}
	}
}

// isLeftOut reports whether a nil slice stays out of the JSON, which an empty one would not.
func isLeftOut(of reflect.StructField, field reflect.Value) bool {
	_, options, _ := strings.Cut(of.Tag.Get("json"), ",")
	return field.Kind() == reflect.Slice && field.IsNil() && strings.Contains(options, "omitzero")
}

var known sync.Map // from reflect.Type to whether its values can have lists

// hasLists reports whether a value of a type can have a list that encoding/json encodes.
func hasLists(t reflect.Type) bool {
	if has, ok := known.Load(t); ok {
		return has.(bool)
	}
	has := findLists(t, map[reflect.Type]bool{})
	known.Store(t, has)
	return has
}

func findLists(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || encodesItself(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Uint8 // which is a text in base64
	case reflect.Pointer, reflect.Map:
		return findLists(t.Elem(), seen)
	case reflect.Struct:
		for field := range t.Fields() {
			if findLists(field.Type, seen) {
				return true
			}
		}
	}
	return false
}

// encodesItself reports whether a type implements its own encoding.
func encodesItself(t reflect.Type) bool {
	for _, own := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](),
	} {
		if t.Implements(own) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}
