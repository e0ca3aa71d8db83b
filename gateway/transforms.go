package gateway

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/engine"
)

// headerChanges are the transforms of one direction. A nil *headerChanges changes nothing.
type headerChanges struct {
	remove                          []string
	rename, replace, add, appending []engine.Field // the value of a rename is the new name
}

func compileChanges(in snapshot.Changes) *headerChanges {
	if in.None() {
		return nil
	}
	fields := func(list []string) (out []engine.Field) {
		for _, entry := range list {
			name, value := policy.SplitChange(entry)
			out = append(out, engine.Field{Name: name, Value: value})
		}
		return out
	}
	return &headerChanges{
		remove:    in.Remove,
		rename:    fields(in.Rename),
		replace:   fields(in.Replace),
		add:       fields(in.Add),
		appending: fields(in.Append),
	}
}

// request returns the changed header of a request. Each operation looks at what those before it left.
func (h *headerChanges) request(fields []engine.Field) []engine.Field { return h.change(fields, false) }

// response returns the changed header of a response. Whether a header is there, and what it is renamed
// with, is how the upstream sent it.
func (h *headerChanges) response(sent []engine.Field) []engine.Field { return h.change(sent, true) }

// change applies the operations in the order of Kong's transformers
// (kong/plugins/request-transformer/access.lua and kong/plugins/response-transformer/header_transformer.lua,
// transform_headers).
func (h *headerChanges) change(sent []engine.Field, bySent bool) []engine.Field {
	if h == nil {
		return sent
	}
	out := slices.Clone(sent)
	seen := func(name string) []string {
		if bySent {
			return fieldLines(sent, name)
		}
		return fieldLines(out, name)
	}
	for _, name := range h.remove {
		out = without(out, name)
	}
	for _, f := range h.rename {
		if lines := seen(f.Name); len(lines) > 0 {
			out = withLines(without(out, f.Name), f.Value, lines)
		}
	}
	for _, f := range h.replace {
		if len(seen(f.Name)) > 0 {
			out = withLines(out, f.Name, []string{f.Value})
		}
	}
	for _, f := range h.add {
		if len(seen(f.Name)) == 0 {
			out = withLines(out, f.Name, []string{f.Value})
		}
	}
	for _, f := range h.appending {
		out = withLines(out, f.Name, append(fieldLines(out, f.Name), f.Value))
	}
	return out
}

// requestHeader is request for net/http.
func (h *headerChanges) requestHeader(header http.Header) {
	if h != nil {
		changeHeader(header, h.request)
	}
}

// responseHeader is response for net/http.
func (h *headerChanges) responseHeader(header http.Header) {
	if h != nil {
		changeHeader(header, h.response)
	}
}

// changeHeader applies change to a header. Names without lines, by which net/http is kept from adding a separate line,
// stay.
func changeHeader(header http.Header, change func([]engine.Field) []engine.Field) {
	var fields []engine.Field
	for name, lines := range header {
		for _, line := range lines {
			fields = append(fields, engine.Field{Name: name, Value: line})
		}
		if len(lines) > 0 {
			delete(header, name)
		}
	}
	for _, f := range change(fields) {
		name := textproto.CanonicalMIMEHeaderKey(f.Name)
		header[name] = append(header[name], f.Value)
	}
}

func fieldLines(fields []engine.Field, name string) (lines []string) {
	for i := range fields {
		if strings.EqualFold(fields[i].Name, name) {
			lines = append(lines, fields[i].Value)
		}
	}
	return lines
}

// withLines gives a header these lines, or one where it has no more.
func withLines(fields []engine.Field, name string, lines []string) []engine.Field {
	if policy.HasOneLine(name) {
		lines = []string{strings.Join(lines, ", ")}
	}
	fields = without(fields, name)
	for _, line := range lines {
		fields = append(fields, engine.Field{Name: name, Value: line})
	}
	return fields
}

func without(fields []engine.Field, name string) []engine.Field {
	return slices.DeleteFunc(fields, func(f engine.Field) bool { return strings.EqualFold(f.Name, name) })
}

// changesAnswers returns the transforms of upstreams' responses to the call; nil before its version is
// known.
func (c *call) changesAnswers() *headerChanges {
	if c.route.version == nil {
		return nil
	}
	return c.route.version.answers
}

// changesOwnAnswers returns the transforms of the gateway's own answers to the call. There are none
// under the caps of an unclaimed project: a browser that shows the answer would obey a Refresh.
func (c *call) changesOwnAnswers() *headerChanges {
	if c.route.version == nil || c.capped() {
		return nil
	}
	return c.route.version.answers
}

// changeAnswer applies the transforms to an upstream's response, which gets no field by them that the
// caller must not get.
func (c *httpCall) changeAnswer(header http.Header) {
	if changes := c.changesAnswers(); changes != nil {
		changes.responseHeader(header)
		c.withhold(header)
	}
}
