package ascode

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Object is a JSON object whose members keep their order.
type Object struct {
	names  []string
	values map[string]any
}

// Set sets the member at a path such as limits.key.
func (o *Object) Set(path string, value any) {
	name, rest, deeper := strings.Cut(path, ".")
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, have := o.values[name]; !have {
		o.names = append(o.names, name)
	}
	if !deeper {
		o.values[name] = value
		return
	}
	inner, ok := o.values[name].(*Object)
	if !ok {
		inner = &Object{}
		o.values[name] = inner
	}
	inner.Set(rest, value)
}

// MarshalJSON writes the members in the order in which they were set.
func (o *Object) MarshalJSON() ([]byte, error) {
	var buffer bytes.Buffer
	buffer.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			buffer.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err //nolint:wrapcheck // of the caller's value
		}
		buffer.Write(key)
		buffer.WriteByte(':')
		value, err := unescaped(o.values[name])
		if err != nil {
			return nil, err
		}
		buffer.Write(value)
	}
	buffer.WriteByte('}')
	return buffer.Bytes(), nil
}

// unescaped is json.Marshal without escapes for HTML, which a shell has no use for.
func unescaped(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(buffer.Bytes()), err //nolint:wrapcheck // of the caller's value
}

// document writes JSON for people: on one line where it is short.
func document(value any) string {
	compact, err := unescaped(value)
	if err != nil {
		return "{}" // values are strings, numbers, lists and objects of them
	}
	if len(compact) <= maxLine-8 {
		return string(compact)
	}
	var buffer bytes.Buffer
	if err := json.Indent(&buffer, compact, "", "  "); err != nil {
		return string(compact)
	}
	return buffer.String()
}
