package gateway

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
)

// bodyChanges are the transforms of requests' bodies. A nil *bodyChanges changes nothing.
type bodyChanges struct {
	object objectChanges
	form   queryChanges
	parts  partChanges
}

func compileBodyChanges(in snapshot.Changes) *bodyChanges {
	if in.None() {
		return nil
	}
	return &bodyChanges{
		object: compileObjectChanges(snapshot.BodyChanges{Changes: in}),
		form:   *compileQueryChanges(in),
		parts:  compilePartChanges(in),
	}
}

// compileAnswerChanges returns the transforms of responses' bodies, nil for none.
func compileAnswerChanges(in snapshot.BodyChanges) *objectChanges {
	if in.None() {
		return nil
	}
	out := compileObjectChanges(in)
	out.renamesFalse = true
	return &out
}

// bodyType is a type of body that transforms change.
type bodyType int

const (
	unchangedBody bodyType = iota
	jsonBody
	formBody
	multipartBody
)

// bodyTypeOf returns the type of a request's body. As on Kong, the name may stand anywhere in the
// field (kong/plugins/request-transformer/access.lua, get_content_type).
func bodyTypeOf(contentType string) bodyType {
	contentType = strings.ToLower(contentType)
	switch {
	case strings.Contains(contentType, "application/json"):
		return jsonBody
	case strings.Contains(contentType, "multipart/form-data"):
		return multipartBody
	case strings.Contains(contentType, "application/x-www-form-urlencoded"):
		return formBody
	}
	return unchangedBody
}

// apply returns the body as it is forwarded. JSON that is neither an object nor an array is refused: Kong fails on it.
// Bodies that can't be read, such as compressed ones, are left unchanged.
func (b *bodyChanges) apply(contentType string, body []byte) ([]byte, policy.Denial, bool) {
	switch bodyTypeOf(contentType) {
	case jsonBody:
		if len(body) == 0 {
			return b.object.create(), policy.Denial{}, true
		}
		if kindOf(body) == jsonScalar {
			return nil, policy.BodyNoObject, false
		}
		return b.object.changed(body), policy.Denial{}, true
	case formBody:
		if bytes.Count(body, []byte("&")) >= policy.MaxFormArguments {
			return nil, policy.BodyTooLarge, false
		}
		return []byte(b.form.applyToForm(string(body))), policy.Denial{}, true
	case multipartBody:
		return b.parts.apply(contentType, body), policy.Denial{}, true
	}
	return body, policy.Denial{}, true
}

// changed returns the text with the changes, if it is a JSON object.
func (c *objectChanges) changed(text []byte) []byte {
	if kindOf(text) != jsonObject {
		return text
	}
	if o := parseObject(text); c.apply(o) {
		return o.write()
	}
	return text
}

// create returns the object that takes the place of an empty body, nil for none: the operations other than
// add and append change none.
func (c *objectChanges) create() []byte {
	o := &object{at: map[string]int{}}
	only := objectChanges{add: c.add, appending: c.appending}
	if !only.apply(o) {
		return nil
	}
	return o.write()
}

// isJSONAnswer reports whether the body of a response is changed: one of its types is application/json or
// ends in +json (kong/plugins/response-transformer/header_transformer.lua, is_json_body).
func isJSONAnswer(contentType string) bool {
	for one := range strings.SplitSeq(contentType, ",") {
		media, _, err := mime.ParseMediaType(one)
		if err != nil || strings.HasSuffix(strings.TrimSpace(one), ";") { // Kong's parser is stricter than mime's
			continue
		}
		subtype, ok := strings.CutPrefix(media, "application/")
		if ok && (subtype == "json" || strings.HasSuffix(subtype, "+json")) {
			return true
		}
	}
	return false
}

// partChanges are the transforms of the parts of multipart/form-data.
type partChanges struct {
	remove               []string
	rename, replace, add [][2]string // name and value; of rename the new name
}

func compilePartChanges(in snapshot.Changes) partChanges {
	q := compileQueryChanges(in)
	return partChanges{remove: q.remove, rename: q.rename, replace: q.replace, add: q.add}
}

// part is a part of a form. One that has not been changed is written as it was received.
type part struct {
	name string
	raw  []byte // header and value
}

// apply returns the changed form (kong/plugins/request-transformer/access.lua, transform_multipart_body).
// Kong renames before it removes here, and appends nothing.
func (c *partChanges) apply(contentType string, body []byte) []byte {
	boundary := boundaryOf(contentType)
	if boundary == "" {
		return body
	}
	parts, ok := splitParts(body, boundary)
	if !ok {
		return body
	}
	changed := false
	for _, names := range c.rename {
		if at := partAt(parts, names[0]); at >= 0 && names[0] != names[1] {
			value := parts[at].value()
			parts = setPart(parts, names[1], value)
			parts, changed = withoutPart(parts, names[0]), true
		}
	}
	for _, name := range c.remove {
		parts, changed = withoutPart(parts, name), len(body) > 0 || changed // Kong encodes it again either way
	}
	for _, pair := range c.replace {
		if partAt(parts, pair[0]) >= 0 {
			parts, changed = setPart(withoutPart(parts, pair[0]), pair[0], []byte(pair[1])), true
		}
	}
	for _, pair := range c.add {
		if partAt(parts, pair[0]) < 0 {
			parts, changed = setPart(parts, pair[0], []byte(pair[1])), true
		}
	}
	if !changed {
		return body
	}
	return writeParts(parts, boundary)
}

// boundaryOf returns the boundary of a form as lua-multipart finds it (MultipartData.new), "" for none.
func boundaryOf(contentType string) string {
	_, rest, ok := strings.Cut(contentType, "boundary=")
	if !ok {
		return ""
	}
	boundary, _, _ := strings.Cut(rest, " ")
	if n := len(boundary); n > 1 && boundary[0] == boundary[n-1] && (boundary[0] == '"' || boundary[0] == '\'') {
		boundary = boundary[1 : n-1]
	}
	return boundary
}

// splitParts returns the parts of a form, and no parts for an empty body. It returns false for a body that is
// not a form with the boundary.
func splitParts(body []byte, boundary string) (parts []part, ok bool) {
	if len(body) == 0 {
		return nil, true
	}
	rest := append([]byte("\r\n"), body...)
	delimiter := []byte("\r\n--" + boundary)
	_, rest, ok = bytes.Cut(rest, delimiter)
	for ok {
		if bytes.HasPrefix(rest, []byte("--")) {
			return parts, true
		}
		var raw []byte
		if rest, ok = bytes.CutPrefix(rest, []byte("\r\n")); !ok {
			return nil, false
		}
		if raw, rest, ok = bytes.Cut(rest, delimiter); ok {
			parts = append(parts, part{name: partName(raw), raw: raw})
		}
	}
	return nil, false
}

// partName returns the name of the part with this header and value, "" for none.
func partName(raw []byte) string {
	header, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	for line := range strings.SplitSeq(string(header), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(strings.TrimSpace(name), "Content-Disposition") {
			if _, params, err := mime.ParseMediaType(value); err == nil {
				return params["name"]
			}
		}
	}
	return ""
}

func (p *part) value() []byte {
	_, value, _ := bytes.Cut(p.raw, []byte("\r\n\r\n"))
	return value
}

func partAt(parts []part, name string) int {
	for i := range parts {
		if parts[i].name == name {
			return i
		}
	}
	return -1
}

// withoutPart removes the parts of a name in place: a form may have as many parts as its bytes allow.
func withoutPart(parts []part, name string) []part {
	return slices.DeleteFunc(parts, func(p part) bool { return p.name == name })
}

// setPart gives the first part of a name a value, and adds one if there is none.
func setPart(parts []part, name string, value []byte) []part {
	raw := append([]byte(`Content-Disposition: form-data; name="`+name+"\"\r\n\r\n"), value...)
	if at := partAt(parts, name); at >= 0 {
		parts[at].raw = raw
		return parts
	}
	return append(parts, part{name, raw})
}

// writeParts returns the form. Without a part it is empty, as on Kong.
func writeParts(parts []part, boundary string) []byte {
	var out bytes.Buffer
	for _, p := range parts {
		out.WriteString("--" + boundary + "\r\n")
		out.Write(p.raw)
		out.WriteString("\r\n")
	}
	if len(parts) > 0 {
		out.WriteString("--" + boundary + "--\r\n")
	}
	return out.Bytes()
}
