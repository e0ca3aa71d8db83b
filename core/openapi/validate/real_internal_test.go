package validate

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"postern/core/openapi"
)

// realDocument is a document of a real service, and what checks calls by it.
type realDocument struct {
	*openapi.Document
	validator *Validator
}

// realDocuments keeps what readReal has compiled: the large ones take seconds.
var realDocuments = map[string]realDocument{}

// readReal returns the document in a file of ../testdata. Tests that call it don't run in parallel.
func readReal(t *testing.T, file string) realDocument {
	t.Helper()
	if known, ok := realDocuments[file]; ok {
		return known
	}
	doc, err := openapi.Parse(openapi.NewBudget(t.Context(), openapi.Size), unpacked(t, file))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	v, err := Compile(openapi.NewBudget(t.Context(), openapi.Size), doc.Tree)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	realDocuments[file] = realDocument{doc, v}
	return realDocuments[file]
}

// realFiles names the files of ../testdata that readReal reads.
func realFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.gz")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// Requests that are made of the documents of real services match them, and no longer match when a
// part is replaced by one of another type.
func TestRealDocuments(t *testing.T) {
	total := sampled{}
	for _, file := range realFiles(t) {
		t.Run(file, func(t *testing.T) {
			doc := readReal(t, file)
			var here sampled
			for _, op := range doc.Operations {
				here.check(t, doc.validator, op)
			}
			t.Logf("%d operations: %d good and %d bad requests, %d without a sample, %d unchecked",
				len(doc.Operations), here.good, here.bad, here.skipped, len(doc.validator.Unchecked()))
			total.good, total.bad = total.good+here.good, total.bad+here.bad
			if here.skipped*10 > len(doc.Operations) {
				t.Errorf("%d of %d operations have no sample", here.skipped, len(doc.Operations))
			}
		})
	}
	if total.good < 500 || total.bad < 500 {
		t.Errorf("%+v", total)
	}
}

func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("../testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type sampled struct{ good, bad, skipped int }

// check sends a request with every required parameter and a body, and then ones with a part that is wrong.
func (s *sampled) check(t *testing.T, v *Validator, of openapi.Operation) {
	t.Helper()
	path := of.Path
	var op *Operation
	for _, segment := range strings.Split(path, "/") { // values that aren't a literal of another path
		for _, p := range pieces(segment) {
			path = strings.Replace(path, "{"+p+"}", "7", 1)
		}
	}
	m, ok := v.Find(of.Method, path)
	if !ok || m.Name != of.Method+" "+of.Path {
		t.Errorf("%s %s: found %v %s", of.Method, of.Path, ok, path)
		return
	}
	op = m.Operation
	query, header := url.Values{}, map[string][]string{}
	var wrong []func() func() // each spoils the request, and returns what repairs it
	for i := range op.parameters {
		p := &op.parameters[i]
		value, made := sampleOf(p.schema, 0)
		text, isText := asText(value)
		if !made || !isText && p.in != InPath {
			if p.required {
				s.skipped++
				return
			}
			continue
		}
		switch p.in {
		case InPath:
			for j := range m.values {
				if m.names[j] == p.name && text != "" {
					m.values[j] = text
				}
			}
		case InQuery:
			if p.deep || p.json {
				continue
			}
			query.Set(p.name, text)
			if may := p.schema.may(); may&(kindString|kindArray|kindObject) == 0 {
				wrong = append(wrong, func() func() {
					query.Set(p.name, "no"+text)
					return func() { query.Set(p.name, text) }
				})
			}
		case InHeader:
			header[p.name] = []string{text}
		}
	}
	head := func() []Problem {
		return m.Head(NewWork(t.Context()), "?"+query.Encode(), -1, func(name string) []string {
			if name == "Content-Type" && op.body != nil && len(op.body.media) > 0 {
				return []string{op.body.media[0].name}
			}
			return header[name]
		})
	}
	if problems := head(); len(problems) > 0 {
		t.Errorf("%s: %v of %s", m.Name, problems, query.Encode())
		return
	}
	s.good++
	for _, spoil := range wrong {
		repair := spoil()
		if len(head()) == 0 {
			t.Errorf("%s: %s matches", m.Name, query.Encode())
		}
		repair()
		s.bad++
	}
	s.checkBody(t, m)
}

func (s *sampled) checkBody(t *testing.T, m Match) {
	t.Helper()
	if m.body == nil {
		return
	}
	for i := range m.body.media {
		media := &m.body.media[i]
		if !isJSON(media.name) {
			continue
		}
		value, made := sampleOf(media.schema, 0)
		if !made {
			s.skipped++
			return
		}
		check := func(value any) []Problem {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			return m.Body(NewWork(t.Context()), media.name, "", text)
		}
		if problems := check(value); len(problems) > 0 {
			t.Errorf("%s: %v of %v", m.Name, problems, value)
			return
		}
		s.good++
		object, _ := value.(map[string]any)
		for name, member := range object {
			property := media.schema.properties[name]
			if property.may()&kindArray != 0 || property == nil {
				continue
			}
			object[name] = []any{[]any{}}
			if len(check(object)) == 0 {
				t.Errorf("%s: a list as %s matches", m.Name, name)
			}
			object[name] = member
			s.bad++
		}
	}
}

func pieces(segment string) (names []string) {
	all, _ := piecesOf(segment)
	for _, p := range all {
		if p.parameter {
			names = append(names, p.text)
		}
	}
	return names
}

func asText(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return map[bool]string{true: "true", false: "false"}[value], true
	case []any:
		if len(value) == 1 {
			return asText(value[0])
		}
	}
	return "", false
}

// sampleOf returns a value that matches a schema; false if none is found.
func sampleOf(s *schema, depth int) (any, bool) {
	for _, candidate := range candidates(s, depth) {
		if r := (&run{work: NewWork(context.Background())}); r.check(s, candidate) && !r.stopped {
			return candidate, true
		}
	}
	return nil, false
}

func candidates(s *schema, depth int) (out []any) {
	if s == nil {
		return []any{"x", json.Number("1")}
	}
	if depth > 12 {
		return nil
	}
	for text := range s.enum {
		var value any
		decoder := json.NewDecoder(strings.NewReader(text))
		if _, quoted, _ := strings.Cut(text, ":"); text[0] == '"' {
			out = append(out, quoted)
		} else if decoder.UseNumber(); decoder.Decode(&value) == nil {
			out = append(out, value)
		}
	}
	if may := s.may(); may&kindObject != 0 && s.kinds != kindAny {
		object := map[string]any{}
		fillObject(object, s, depth)
		out = append(out, object)
	}
	if s.may()&kindArray != 0 {
		list := []any{}
		for range max(1, s.minItems) {
			if item, ok := sampleOf(s.itemSchema(), depth+1); ok {
				list = append(list, item)
			}
		}
		out = append(out, list, []any{})
	}
	for _, list := range [][]*schema{s.oneOf, s.anyOf, s.allOf} {
		for _, one := range list {
			if value, ok := sampleOf(one, depth+1); ok {
				out = append(out, value)
			}
		}
	}
	if s.pattern != nil { // such as ^AC[0-9a-f]{32}$
		if free, err := regexp.Compile(strings.TrimPrefix(s.pattern.expression.String(), "^")); err == nil {
			prefix, _ := free.LiteralPrefix()
			out = append(out, prefix+strings.Repeat("a", 32))
		}
	}
	out = append(out, json.Number("1"), json.Number("0"), json.Number("20"), json.Number("1000"), true, nil, "x",
		"2026-01-02", "2026-01-02T03:04:05Z", "11111111-2222-4333-8444-555555555555", "192.0.2.1", "abcdefgh", "1",
		"2012", "12345", "123456789", "1.00", "USD", "US", "A1B2C3D4E5F6G", "https://example.com/a", "a@example.com",
		strings.Repeat("A", max(0, s.minLength)), strings.Repeat("a", max(0, s.maxLength/2)), "#ffffff", "en-US",
		"I-ABCDEFGHIJKL",
		"TEST", "/x", "P-1234567890123456789012345", "12:00", "08:00", "2026-01", "/metadata/x", "0.5.1.")
	return out
}

func fillObject(object map[string]any, s *schema, depth int) {
	if s == nil || depth > 12 {
		return
	}
	for _, name := range s.required {
		var property *schema
		if found, _ := (&run{work: NewWork(context.Background())}).property([]*schema{s}, name); len(found) > 0 {
			property = found[0]
		}
		if value, ok := sampleOf(property, depth+1); ok {
			object[name] = value
		}
	}
	for name, property := range s.properties {
		if _, there := object[name]; !there && depth < 2 && property != nil && !property.never {
			if value, ok := sampleOf(property, depth+1); ok {
				object[name] = value
			}
		}
	}
	for _, one := range s.allOf {
		fillObject(object, one, depth+1)
	}
}
