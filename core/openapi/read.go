package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"postern/core/openapi/tree"
)

// About how many bytes a server and an operation take, without their texts.
const (
	perServer    = 32
	perOperation = 200
)

// reader reads the summary of a document.
type reader struct {
	*Budget

	doc    tree.Document
	out    *Summary
	notes  notes
	routes map[string]*route // by method and path with nameless parameters
	urls   map[string]bool   // of the servers of the document
}

// route is a method of a path, whatever its parameters are called.
type route struct {
	path  string // as it is written first
	alike int    // other paths that differ from it only in the names of parameters
}

// maxAlike bounds those, each of which a call is validated against until one matches.
const maxAlike = 8

func (r *reader) document() {
	info, _ := r.doc.Root["info"].(map[string]any)
	r.out.Title, r.out.Version = tree.Scalar(info["title"]), tree.Scalar(info["version"])
	if r.out.Title == "" || r.out.Version == "" {
		r.warn(flawInfo, "info")
	}
	r.text("openapi", r.doc.Root["openapi"])
	r.text("info/title", info["title"])
	r.text("info/version", info["version"])
	r.out.Servers = r.servers(r.doc.Root["servers"])
	r.urls = make(map[string]bool, len(r.out.Servers))
	for _, server := range r.out.Servers {
		r.urls[server.URL] = true
		r.Take(Memory, int64(len(server.URL)+len(server.Description)+perServer))
	}
	paths, ok := r.doc.Root["paths"].(map[string]any)
	if !ok && r.doc.Root["paths"] != nil {
		r.Refuse("paths must be an object")
	}
	r.routes = map[string]*route{}
	for path, item := range r.Members(paths) {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		r.At = "path " + cut(path)
		r.path(path, item)
	}
	r.At = ""
	r.out.Warnings = append(r.out.Warnings, r.notes.list()...)
}

// text notes a value that must be a text.
func (r *reader) text(at string, value any) {
	if _, isText := value.(string); value != nil && !isText {
		r.warn(flawUnquoted, at)
	}
}

func (r *reader) path(path string, node any) {
	template, ok := nameless(path)
	if !ok {
		r.Refuse("it must start with a slash, and each { must have a matching }")
		return
	}
	item := r.Resolve(r.doc, node)
	if item == nil && node != nil {
		r.Refuse("it must be an object, or refer to one%s", r.unresolvedRef(node))
	}
	if isUnmatched(template) {
		r.warn(flawUnmatched, path)
	}
	for name := range r.Members(item) {
		if isIgnored(name) && r.Spend(stepsOfWarning) {
			r.warn(flawMember, fmt.Sprintf("%s has %q", cut(path), cut(name)))
		}
	}
	r.ownServers(item["servers"])
	r.parameters(item["parameters"])
	for _, method := range Methods {
		of, there := item[strings.ToLower(method)]
		if !there {
			continue
		}
		r.At = method + " " + cut(path)
		op, ok := of.(map[string]any)
		if !ok {
			r.Refuse("it must be an object")
		}
		if !r.Take(Operations, 1) {
			return
		}
		first := r.routes[method+template]
		switch {
		case first == nil:
			r.routes[method+template] = &route{path: path}
		case first.alike == maxAlike:
			r.Refuse("more than %d paths differ from %s only in the names of parameters, so a call could match "+
				"several of them", maxAlike, cut(first.path))
			return
		default:
			first.alike++
			r.warn(flawAlike, r.At+" is "+cut(first.path))
		}
		r.operation(method, path, op, first == nil)
	}
}

// operation checks an operation, and adds it to the summary if it is to be listed.
func (r *reader) operation(method, path string, op map[string]any, listed bool) {
	r.ownServers(op["servers"])
	r.parameters(op["parameters"])
	r.requestBody(op["requestBody"])
	security, own := op["security"]
	if !own {
		security = r.doc.Root["security"]
	}
	out := Operation{
		Method:  method,
		Path:    path,
		ID:      tree.Text(op["operationId"]),
		Summary: tree.Text(op["summary"]),
		Scopes:  r.scopes(security),
		Digest:  r.digest(op),
	}
	out.Deprecated, _ = op["deprecated"].(bool)
	if tags, _ := op["tags"].([]any); len(tags) > 0 {
		out.Tag = tree.Text(tags[0])
	}
	out.AnswersID = r.answersID(op["responses"])
	if !listed {
		return
	}
	size := perOperation + len(path) + len(out.ID) + len(out.Summary) + len(out.Tag)
	for _, scope := range out.Scopes {
		size += 16 + len(scope)
	}
	r.Take(Memory, int64(size))
	r.out.Operations = append(r.out.Operations, out)
}

// stepsOfParameter are those of a parameter without its texts.
const stepsOfParameter = 4

// parameters refuses invalid parameters, such as those without a name.
func (r *reader) parameters(of any) {
	list, isList := of.([]any)
	if of != nil && !isList {
		r.Refuse("parameters must be a list")
	}
	type parameter struct{ in, name string }
	seen := make(map[parameter]map[string]any, len(list))
	for _, one := range r.Each(list) {
		node := r.Resolve(r.doc, one)
		p := parameter{tree.Text(node["in"]), tree.Text(node["name"])}
		switch {
		case !r.Spend(stepsOfParameter + (len(p.in)+len(p.name))/bytesOfStep):
			return
		case node == nil:
			r.Refuse("a parameter must be an object, or refer to one%s", r.unresolvedRef(one))
		case p.name == "":
			r.Refuse("a parameter has no name")
		case p.in != "path" && p.in != "query" && p.in != "header" && p.in != "cookie":
			r.Refuse("the parameter %.100q must be in path, query, header or cookie", p.name)
		case readings(node) > 1:
			r.Refuse("the parameter %.100q must have either a schema or one content type", p.name)
		case seen[p] == nil:
		case r.digest(seen[p]) == r.digest(node):
			r.warn(flawParameterTwice, withPlace(r.At, p.in+" "+p.name))
		default:
			r.Refuse("the parameter %.100q appears twice with different descriptions", p.name)
		}
		seen[p] = node
	}
}

// readings returns how many ways to read its value a parameter names.
func readings(parameter map[string]any) int {
	content, _ := parameter["content"].(map[string]any)
	if parameter["schema"] != nil {
		return len(content) + 1
	}
	return len(content)
}

func (r *reader) requestBody(of any) {
	if of == nil {
		return
	}
	body := r.Resolve(r.doc, of)
	content, ok := body["content"].(map[string]any)
	if !ok {
		r.Refuse("the request body must be an object with content, or refer to one%s", r.unresolvedRef(of))
	}
	for _, media := range r.Members(content) {
		if media != nil && r.Resolve(r.doc, media) == nil {
			r.Refuse("each entry in the content of the request body must be an object%s", r.unresolvedRef(media))
		}
	}
}

// scopes returns the scopes of the first alternative that requires any; none if one of them is to send no
// credential.
func (r *reader) scopes(of any) (found []string) {
	alternatives, isList := of.([]any)
	if of != nil && !isList {
		r.warnSecurity()
	}
	for _, one := range r.Each(alternatives) {
		schemes, isObject := one.(map[string]any)
		if !isObject {
			r.warnSecurity()
			continue
		}
		if len(schemes) == 0 {
			return nil // no credential is needed either
		}
		var scopes []string
		for _, of := range r.Members(schemes) {
			list, isList := of.([]any)
			if !isList {
				r.warnSecurity()
			}
			for _, one := range r.Each(list) {
				scope := tree.Scalar(one)
				r.Spend(3 + len(scope)/bytesOfStep) // also to sort it
				scopes = append(scopes, scope)
			}
		}
		if len(found) == 0 {
			found = scopes
		}
	}
	if r.Err() != nil {
		return nil
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (r *reader) warnSecurity() {
	if r.Spend(stepsOfWarning) {
		r.warn(flawSecurity, withPlace(r.At, "security"))
	}
}

// answersID reports whether a 2xx answer of an operation has the property id, as far as its schema says.
func (r *reader) answersID(of any) bool {
	responses, _ := of.(map[string]any)
	found := false
	for _, status := range []string{"200", "201", "202", "2XX"} {
		content, _ := r.Resolve(r.doc, responses[status])["content"].(map[string]any)
		media := r.Resolve(r.doc, content["application/json"])
		found = found || r.hasID(media["schema"], map[string]bool{})
	}
	return found
}

// hasID reports whether a schema, or one of those that it is composed of, has a text or a whole number as the property
// id. Each referenced schema is seen once: allOf may refer to the same schema many times, on every level.
func (r *reader) hasID(schema any, seen map[string]bool) bool {
	node, _ := schema.(map[string]any)
	if ref, refers := node["$ref"].(string); refers {
		if seen[ref] || len(seen) >= maxComposed {
			return false
		}
		seen[ref] = true
		node = r.Resolve(r.doc, node)
	}
	properties, _ := node["properties"].(map[string]any)
	if id := r.Resolve(r.doc, properties["id"]); id != nil {
		kind := tree.Text(id["type"])
		return kind == "string" || kind == "integer"
	}
	parts, _ := node["allOf"].([]any)
	for _, part := range r.Each(parts) {
		if r.hasID(part, seen) {
			return true
		}
	}
	return false
}

// maxComposed bounds the schemas that one is composed of, within each other or next to each other.
const maxComposed = 200

// digest returns a hash of an operation. Equal values have equal hashes, however they are written.
func (r *reader) digest(op map[string]any) string {
	sum := sha256.New()
	r.hash(sum, op)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (r *reader) hash(sum hash.Hash, value any) {
	if !r.Spend(stepsOfValue) {
		return
	}
	write := func(kind byte, text string) {
		r.Spend(len(text) / bytesOfStep)
		head := strconv.AppendInt([]byte{kind}, int64(len(text)), 10)
		_, _ = sum.Write(append(append(head, ':'), text...)) // a hash has no errors
	}
	switch value := value.(type) {
	case map[string]any:
		write('{', strconv.Itoa(len(value)))
		for name, member := range r.Members(value) {
			write('k', name)
			r.hash(sum, member)
		}
	case []any:
		write('[', strconv.Itoa(len(value)))
		for _, item := range r.Each(value) {
			r.hash(sum, item)
		}
	case string:
		write('s', value)
	default:
		write('v', tree.Scalar(value)) // null is empty
	}
}
