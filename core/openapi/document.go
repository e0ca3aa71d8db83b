package openapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// MaxSize bounds a document, in bytes, as it is sent and as JSON.
const MaxSize = 5 << 20

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Document is a checked OpenAPI document.
type Document struct {
	Summary

	JSON []byte // as it was sent, or made of YAML
}

// Summary is what a document says of the API as a whole and of its operations.
type Summary struct {
	Spec       string      `json:"openapi"` // version of OpenAPI, such as 3.1.0
	Title      string      `json:"title"`
	Version    string      `json:"version"` // of the API
	Servers    []Server    `json:"servers,omitempty"`
	Operations []Operation `json:"operations,omitempty"` // by path, then in the order of Methods
}

// Server is an address of the API.
type Server struct {
	URL         string `json:"url"` // with the defaults of its variables
	Description string `json:"description,omitempty"`
}

// Operation is one method of one path.
type Operation struct {
	Method     string `json:"method"`       // upper case
	Path       string `json:"path"`         // template, such as /orders/{id}
	ID         string `json:"id,omitempty"` // operationId; "": none
	Summary    string `json:"summary,omitempty"`
	Tag        string `json:"tag,omitempty"` // the first one
	Deprecated bool   `json:"deprecated,omitempty"`
	// that its security asks for; of alternatives the first that has any
	Scopes    []string `json:"scopes,omitempty"`
	AnswersID bool     `json:"answers_id,omitempty"` // a 2xx answer is a JSON object with the property id
	Digest    string   `json:"digest"`               // of the operation, with its references unresolved
}

// Methods are the methods that a path of a document can have, in the order of Operations.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Parse reads and checks a document, JSON or YAML. A refusal is an *Error.
func Parse(data []byte) (*Document, error) {
	if len(data) > MaxSize {
		return nil, refuse("The document has more than 5 MB. Leave out examples, or split the API into versions.")
	}
	data, compact, err := toJSON(data)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(compact); err != nil {
		return nil, err
	}
	if err := checkReferences(compact); err != nil {
		return nil, err
	}
	read, err := load(compact)
	if err != nil {
		_, err = load(data) // with the lines of the document as it was sent
	}
	if err != nil {
		return nil, refuse("%s", readError(err))
	}
	err = read.Validate(context.Background(), openapi3.DisableExamplesValidation(),
		openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableSchemaPatternValidation())
	if err != nil {
		return nil, refuse("%s", readError(err))
	}
	return newDocument(data, read)
}

func load(data []byte) (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = nil // with IsExternalRefsAllowed false nothing else is read
	return loader.LoadFromData(data)
}

// checkVersion refuses what is no OpenAPI document of a version that is read.
func checkVersion(data []byte) error {
	var head struct {
		OpenAPI any `json:"openapi"`
		Swagger any `json:"swagger"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return refuse("The document is no object: %s.", err)
	}
	version, _ := head.OpenAPI.(string)
	switch {
	case head.Swagger != nil:
		return refuse("This is a Swagger 2.0 document. Convert it to OpenAPI 3.0 or 3.1.")
	case version == "":
		return refuse(`There is no "openapi": name the version, such as "openapi": "3.1.0".`)
	case !strings.HasPrefix(version, "3.0.") && !strings.HasPrefix(version, "3.1."):
		return refuse("OpenAPI %.20q is not supported; use 3.0 or 3.1.", version)
	}
	return nil
}

// readError turns an error of the library into one line for who wrote the document.
func readError(err error) string {
	text := err.Error()
	if strings.Contains(text, "disallowed external reference") {
		_, ref, _ := strings.Cut(text, "reference: ")
		return fmt.Sprintf("The document refers to another file, %.200s, which is not read. Bundle it into one "+
			"document.", ref)
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	return "The document is not valid: " + text + "."
}

func newDocument(data []byte, read *openapi3.T) (*Document, error) {
	out := &Document{JSON: data, Summary: Summary{Spec: read.OpenAPI}}
	if read.Info != nil {
		out.Title, out.Version = read.Info.Title, read.Info.Version
	}
	for _, server := range read.Servers {
		url, err := serverURL(server)
		if err != nil {
			return nil, err
		}
		out.Servers = append(out.Servers, Server{URL: url, Description: server.Description})
	}
	if read.Paths == nil {
		return out, nil
	}
	paths := read.Paths.Map()
	for _, path := range read.Paths.InMatchingOrder() {
		for _, method := range Methods {
			if op := paths[path].GetOperation(method); op != nil {
				made, err := newOperation(read, method, path, op)
				if err != nil {
					return nil, err
				}
				out.Operations = append(out.Operations, made)
			}
		}
	}
	slices.SortStableFunc(out.Operations, func(a, b Operation) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func newOperation(read *openapi3.T, method, path string, op *openapi3.Operation) (Operation, error) {
	text, err := json.Marshal(op)
	if err != nil {
		return Operation{}, refuse("%s %s is not readable: %s.", method, path, err)
	}
	sum := sha256.Sum256(text)
	security := read.Security
	if op.Security != nil {
		security = *op.Security
	}
	tag := ""
	if len(op.Tags) > 0 {
		tag = op.Tags[0]
	}
	return Operation{
		Tag:        tag,
		Method:     method,
		Path:       path,
		ID:         op.OperationID,
		Summary:    op.Summary,
		Deprecated: op.Deprecated,
		Scopes:     scopesOf(security),
		AnswersID:  answersID(op),
		Digest:     hex.EncodeToString(sum[:16]),
	}, nil
}

// answersID reports whether a 2xx answer of an operation has the property id, as far as its schema says.
func answersID(op *openapi3.Operation) bool {
	if op.Responses == nil {
		return false
	}
	for _, status := range []string{"200", "201", "202", "2XX"} {
		response := op.Responses.Value(status)
		if response == nil || response.Value == nil {
			continue
		}
		media := response.Value.Content.Get("application/json")
		if media != nil && hasProperty(media.Schema, "id", map[*openapi3.Schema]bool{}) {
			return true
		}
	}
	return false
}

// hasProperty reports whether a schema, or one of those that it is composed of, has a text or a whole
// number as a property. Each schema is seen once: allOf may refer to the same one many times, on every
// level.
func hasProperty(of *openapi3.SchemaRef, name string, seen map[*openapi3.Schema]bool) bool {
	if of == nil || of.Value == nil || seen[of.Value] {
		return false
	}
	seen[of.Value] = true
	if found := of.Value.Properties[name]; found != nil && found.Value != nil {
		return found.Value.Type.Is("string") || found.Value.Type.Is("integer")
	}
	return slices.ContainsFunc(of.Value.AllOf, func(part *openapi3.SchemaRef) bool {
		return hasProperty(part, name, seen)
	})
}

// scopesOf returns the scopes of the first alternative that asks for any; none if one of them is to
// send no credential.
func scopesOf(alternatives openapi3.SecurityRequirements) []string {
	var found []string
	for _, schemes := range alternatives {
		var scopes []string
		for _, of := range schemes {
			scopes = append(scopes, of...)
		}
		if len(schemes) == 0 {
			return nil // no credential is needed either
		}
		if len(found) == 0 {
			found = scopes
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// maxServerURL bounds the address of a server, in bytes, with the defaults of its variables. Their names may repeat, so
// that a short document could ask for a text without bound.
const maxServerURL = 2 << 10

// serverURL returns the address of a server with the defaults of its variables. A default is a text: what looks like a
// variable within it stays.
func serverURL(server *openapi3.Server) (string, error) {
	var out strings.Builder
	rest := server.URL
	for rest != "" && out.Len() <= maxServerURL {
		before, after, _ := strings.Cut(rest, "{")
		out.WriteString(before)
		name, more, closed := strings.Cut(after, "}")
		variable := server.Variables[name]
		if !closed || variable == nil {
			out.WriteString(rest[len(before):])
			break
		}
		out.WriteString(variable.Default)
		rest = more
	}
	if out.Len() > maxServerURL {
		return "", refuse("The address of the server %.100q has more than 2 KB with the defaults of its variables. "+
			"Shorten it.", server.URL)
	}
	return out.String(), nil
}

// checkDepth refuses valid JSON that is nested too deep: the library reads each level of schemas again for
// every level above it.
func checkDepth(data []byte) error {
	depth, line, quoted := 0, 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			line++
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return refuse("Line %d: the document is nested more than %d deep.", line, maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// toJSON returns a document as JSON, as it is or made of YAML, and the same without the spaces between its
// values: the library scans a value again for every level above it, and spaces are up to half of a document.
func toJSON(data []byte) (sent, compact []byte, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // byte order mark
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, nil, refuse("The document is empty.")
	}
	if data[0] != '{' {
		made, err := fromYAML(data)
		return made, made, err
	}
	out := bytes.NewBuffer(make([]byte, 0, len(data)))
	if json.Compact(out, data) == nil {
		return data, out.Bytes(), checkDepth(data)
	}
	var syntax *json.SyntaxError
	var into any
	err = json.Unmarshal(data, &into)
	made, yamlErr := fromYAML(data) // a flow mapping also begins with a brace
	if yamlErr == nil {
		return made, made, nil
	}
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(data[:syntax.Offset], []byte("\n"))
		return nil, nil, refuse("The document is no valid JSON: line %d: %s.", line, syntax)
	}
	return nil, nil, refuse("The document is no valid JSON: %s.", err)
}
