package validate

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
)

// MaxBody is how many bytes a body that is checked may have, also unpacked.
const MaxBody = 1 << 20

// Problem says what about a request does not match the document. It has no value of the request.
type Problem struct {
	In     string `json:"in"`             // InPath, InQuery, InHeader or InBody
	Name   string `json:"name,omitempty"` // of the parameter; of InBody a JSON pointer
	Detail string `json:"detail"`         // follows In and Name in a sentence: must be an integer
}

// String returns the problem as a phrase: query limit must be an integer.
func (p Problem) String() string {
	if p.Name == "" {
		return p.In + " " + p.Detail
	}
	return p.In + " " + p.Name + " " + p.Detail
}

// Operation is a document's description of a method of a path.
type Operation struct {
	Name string // method and path template, such as GET /orders/{id}

	names      []string   // of the parameters in the path
	alike      *Operation // the next one whose path differs only in their names; nil: there is none
	parameters []parameter
	inQuery    looseNames      // the names of parameters in the query
	bracketed  map[string]bool // the names of parameters in the query that have brackets themselves
	body       *requestBody    // nil: the document describes none
	unknown    string          // why no request matches it; "": one may
}

// Match is an operation that a request is for.
type Match struct {
	*Operation
	values []string // of the parameters in the path
}

// Find returns the operation that a request is for. ok is false if the document describes none. path is below the
// environment's prefix, normalized and escaped. A slash at its end makes no difference where the document doesn't say
// otherwise.
func (v *Validator) Find(method, path string) (m Match, ok bool) {
	unknown := func(why string) (Match, bool) {
		return Match{&Operation{Name: method + " (any path)", unknown: why}, nil}, true
	}
	if v.none {
		return unknown("can't be checked, because the OpenAPI document can't be compiled")
	}
	path = strings.TrimPrefix(path, "/")
	s := search{method: method}
	op, found := s.find(&v.root, path, nil)
	if op == nil && strings.HasSuffix(path, "/") {
		op, found = s.find(&v.root, path[:len(path)-1], nil)
	} else if op == nil {
		op, found = s.find(&v.root, path+"/", nil)
	}
	switch {
	case s.compared > maxCompared:
		return unknown("is too long to be matched to a path in the OpenAPI document")
	case op == nil:
		return Match{}, false
	}
	return Match{op, found}, true
}

// either returns the problems of a request with the first operation, none if there is none with one that is alike.
func (m Match) either(check func(Match) []Problem) []Problem {
	problems := check(m)
	for op := m.alike; op != nil && len(problems) > 0; op = op.alike {
		if len(check(Match{op, m.values})) == 0 {
			return nil
		}
	}
	return problems
}

// Path checks the parameters in the path.
func (m Match) Path(w *Work) []Problem {
	return m.either(func(m Match) []Problem {
		r := &run{work: w, in: InPath}
		m.checkPath(r)
		return r.result()
	})
}

func (m Match) checkPath(r *run) {
	if m.unknown != "" {
		r.in = InPath
		r.problem("%s", m.unknown)
	}
	for i := range m.parameters {
		p := &m.parameters[i]
		if p.in != InPath {
			continue
		}
		r.spend(1 + len(m.values))
		for i, value := range m.values {
			if m.names[i] == p.name {
				p.check(r, []string{value})
			}
		}
	}
}

// Head checks the parameters in path, query and header, and the body's content type. query is as it
// was sent; length is that of the body, -1 for one that is not known yet.
func (m Match) Head(w *Work, query string, length int64, header func(name string) []string) []Problem {
	return m.either(func(m Match) []Problem { return m.head(w, query, length, header) })
}

func (m Match) head(w *Work, query string, length int64, header func(name string) []string) []Problem {
	r := &run{work: w, in: InQuery}
	r.spend(len(query) / bytesOfStep)
	m.checkPath(r)
	m.checkQuery(r, strings.TrimPrefix(query, "?"))
	for i := range m.parameters {
		if p := &m.parameters[i]; p.in == InHeader {
			lines := header(p.name)
			if len(lines) > 1 && p.schema.mayRepeat() { // lines of a list are one (RFC 9110, 5.3)
				lines = []string{strings.Join(lines, ",")}
			}
			p.check(r, lines)
		}
	}
	r.in, r.at = InBody, r.at[:0]
	switch {
	case m.body == nil:
	case length == 0 && m.body.required:
		r.problem("is required")
	case length != 0:
		m.body.checkType(r, header)
	}
	return r.result()
}

// checkQuery checks the parameters in the query, in each way in which an upstream may read it.
func (m Match) checkQuery(r *run, query string) {
	if len(m.inQuery) == 0 {
		return
	}
	pairs, _ := readArguments(query, len(query))
	m.checkArguments(r, pairs)
	if loose, differs := r.loosely(query, m.inQuery, len(query)); differs && len(r.problems) == 0 {
		m.checkArguments(r, loose)
	}
}

func (m Match) checkArguments(r *run, pairs []argument) {
	for _, one := range pairs {
		r.in, r.at = InQuery, r.at[:0]
		switch {
		case one.brokenName:
			r.problem("has a name with %s", brokenEscape)
		case one.brokenText && m.inQuery[one.name] != "":
			r.at = append(r.at, m.inQuery[one.name])
			r.problem("has %s", brokenEscape)
		}
	}
	arguments := r.arguments(pairs, m.bracketed)
	for i := range m.parameters {
		if p := &m.parameters[i]; p.in == InQuery {
			p.checkQuery(r, arguments)
		}
	}
}

const brokenEscape = "a percent sign that doesn't start an escape"

const formType = "application/x-www-form-urlencoded"

func mediaType(line string) string {
	name, _, err := mime.ParseMediaType(line)
	if err != nil {
		name, _, _ = strings.Cut(line, ";")
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// readsAlike reports whether a receiver that uses the charset of a content type finds the same JSON in a body as one
// that takes it for UTF-8. In others, such as UTF-7, a text may be a quote.
func readsAlike(contentType string) bool {
	_, parameters, err := mime.ParseMediaType(contentType)
	switch strings.ToLower(parameters["charset"]) {
	case "":
		return err == nil || !strings.Contains(strings.ToLower(contentType), "charset")
	case "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "windows-1252":
		return true
	}
	return false
}

func isJSON(media string) bool {
	media = mediaType(media)
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// of returns the description of a content type: by its name, or else by a range.
func (b *requestBody) of(contentType string) *media {
	kind, _, _ := strings.Cut(contentType, "/")
	for _, name := range []string{contentType, kind + "/*", "*/*"} {
		for i := range b.media {
			if b.media[i].name == name {
				return &b.media[i]
			}
		}
	}
	return nil
}

func (b *requestBody) checkType(r *run, header func(string) []string) {
	if len(b.media) == 0 {
		return
	}
	lines := header("Content-Type")
	if len(lines) == 1 && b.of(mediaType(lines[0])) != nil {
		return
	}
	var names []string
	for _, one := range b.media {
		names = append(names, one.name)
	}
	r.ofHeader("Content-Type", fmt.Errorf("must be one of %s", strings.Join(names, ", ")))
}

// ReadsBody reports whether bodies of a content type are checked, so that they must be read.
func (m Match) ReadsBody(contentType string) bool {
	name := mediaType(contentType)
	if !isJSON(name) && name != formType {
		return false
	}
	for op := m.Operation; op != nil; op = op.alike {
		if op.body != nil && op.body.of(name) != nil {
			return true
		}
	}
	return false
}

// Body checks a body that ReadsBody reports. encoding is the Content-Encoding: gzip is unpacked.
func (m Match) Body(w *Work, contentType, encoding string, body []byte) []Problem {
	return m.either(func(m Match) []Problem { return m.checkBody(w, contentType, encoding, body) })
}

func (m Match) checkBody(w *Work, contentType, encoding string, body []byte) []Problem {
	name := mediaType(contentType)
	r := &run{work: w, in: InBody}
	switch {
	case m.body == nil:
		return nil
	case m.body.of(name) == nil: // a similar operation has it
		r.ofHeader("Content-Type", errMedia)
		return r.result()
	}
	if len(body) == 0 {
		if m.body.required {
			r.problem("is required")
		}
		return r.result()
	}
	body, err := unpack(w, encoding, body)
	switch {
	case errors.Is(err, errEncoding):
		r.ofHeader("Content-Encoding", err)
	case err != nil:
		r.problem("%s", err)
	case !readsAlike(contentType):
		r.ofHeader("Content-Type", errCharset)
	}
	if len(r.problems) > 0 {
		return r.result()
	}
	if !r.spend(len(body)) {
		return r.result()
	}
	of := m.body.of(name)
	if name == formType {
		if form, all := readArguments(string(body), maxForm); all {
			r.checkForm(of.schema, form, string(body), of.separator)
		} else {
			r.problem("must have at most %d arguments", maxForm)
		}
		return r.result()
	}
	value, err := readJSON(w, body)
	if err != nil {
		r.problem("%s", err)
		return r.result()
	}
	r.check(of.schema, value)
	return r.result()
}

// ofHeader notes a problem of a header that says how the body is to be read.
func (r *run) ofHeader(name string, err error) {
	r.in, r.at = InHeader, append(r.at[:0], name)
	r.problem("%s", err)
}

// maxForm bounds the arguments of a form.
const maxForm = 1000

// Errors for callers.
var (
	errMedia    = errors.New("must be a content type from the document")
	errCharset  = errors.New("must not have a charset other than UTF-8")
	errEncoding = errors.New("must be gzip or absent")
	errGzip     = errors.New("must be compressed with gzip, as Content-Encoding specifies")
	errTooLarge = errors.New("must be at most 1 MB when unpacked")
)

// TooLarge is the problem of a body with more than MaxBody bytes.
func TooLarge() Problem { return Problem{In: InBody, Detail: "must be at most 1 MB to be checked"} }

func unpack(work *Work, encoding string, body []byte) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
	default:
		return nil, errEncoding
	}
	if !work.take(2 * MaxBody) {
		return nil, errMemory
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, errGzip
	}
	plain, err := io.ReadAll(io.LimitReader(z, MaxBody+1))
	switch {
	case err != nil:
		return nil, errGzip
	case len(plain) > MaxBody:
		return nil, errTooLarge
	}
	return plain, nil
}

// result returns the problems of a run, each once.
func (r *run) result() []Problem {
	if r.stopped {
		return []Problem{{In: r.in, Detail: "is too large or too deeply nested to be checked against the document"}}
	}
	var out []Problem
	for _, p := range r.problems {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Answer returns the JSON body of a refusal.
func Answer(message, code string, problems []Problem) []byte {
	out, err := json.Marshal(struct {
		Message string    `json:"message"`
		Code    string    `json:"code"`
		Errors  []Problem `json:"errors"`
	}{message, code, problems})
	if err != nil {
		panic(err) // strings only
	}
	return out
}
