// Package publish creates the OpenAPI document that callers of a version read: the imported one, whose servers are
// replaced, or one that is generated of a version's environments and access policy. It does not check documents, which
// package openapi does.
package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Server is an entry of servers.
type Server struct {
	Description string `json:"description,omitempty"`
	URL         string `json:"url"`
}

// Document is a document without its servers. The zero value is empty.
type Document struct {
	before, after []byte
}

// errNoObject is the error of a document that isn't an object.
var errNoObject = errors.New("publish: the document isn't an object")

// New returns a document, JSON, without the servers of the document, of its paths and of its operations:
// they are the upstream's own URLs.
func New(document []byte) (Document, error) {
	members, err := membersOf(document)
	if err != nil {
		return Document{}, err
	}
	var out Document
	var all bytes.Buffer
	all.WriteString(`{`)
	first := true
	write := func(name string, value []byte) {
		if !first {
			all.WriteByte(',')
		}
		first = false
		all.WriteString(name)
		all.WriteByte(':')
		all.Write(value)
	}
	for _, m := range members {
		switch m.name {
		case `"servers"`:
			continue
		case `"paths"`:
			if m.value, err = withoutServers(m.value, pathItems); err != nil {
				return Document{}, err
			}
		case `"components"`:
			if m.value, err = withoutServers(m.value, components); err != nil {
				return Document{}, err
			}
		}
		if write(m.name, m.value); m.name == `"info"` {
			all.WriteString(`,"servers":`)
			out.before = bytes.Clone(all.Bytes())
			all.Reset()
		}
	}
	all.WriteByte('}')
	out.after = all.Bytes()
	if out.before == nil {
		return Document{}, errors.New("publish: the document has no info")
	}
	return out, nil
}

// With returns the document with these servers.
func (d Document) With(servers ...Server) []byte {
	list, err := json.Marshal(servers)
	if err != nil {
		panic(err) // strings only
	}
	return slices.Concat(d.before, list, d.after)
}

// level says what of a document an object is.
type level int

const (
	components level = iota
	pathItems        // path items by name
	pathItem
	anOperation
)

var operationNames = []string{
	`"get"`, `"put"`, `"post"`, `"delete"`, `"options"`, `"head"`, `"patch"`, `"trace"`,
}

// withoutServers returns an object without the servers in it. Members keep their order.
func withoutServers(object []byte, at level) ([]byte, error) {
	if !bytes.Contains(object, []byte(`"servers"`)) {
		return object, nil
	}
	members, err := membersOf(object)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, m := range members {
		within := level(-1)
		switch {
		case at >= pathItem && m.name == `"servers"`:
			continue
		case at == components && m.name == `"pathItems"`:
			within = pathItems
		case at == pathItems:
			within = pathItem
		case at == pathItem && slices.Contains(operationNames, m.name):
			within = anOperation
		}
		if within >= 0 && bytes.HasPrefix(bytes.TrimSpace(m.value), []byte("{")) {
			if m.value, err = withoutServers(m.value, within); err != nil {
				return nil, err
			}
		}
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%s:%s", m.name, m.value)
	}
	return append(append([]byte("{"), out.Bytes()...), '}'), nil
}

// member is a member of an object: its name as a JSON string, and its value as it is written.
type member struct {
	name  string
	value json.RawMessage
}

func membersOf(object []byte) (out []member, err error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errNoObject
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("publish: read the document: %w", err)
		}
		name, _ := token.(string)
		var m member
		if err := decoder.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("publish: read the document: %w", err)
		}
		m.name = quoted(name)
		out = append(out, m)
	}
	return out, nil
}

func quoted(name string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(name) // a string can be encoded
	return strings.TrimSuffix(out.String(), "\n")
}
