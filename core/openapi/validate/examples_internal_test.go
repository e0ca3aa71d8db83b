package validate

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/tree"
	"postern/testkit/golden"
)

// Requests that are made of the examples of real documents match them. The golden file lists those that don't, with
// what is wrong: these examples contradict their own document.
func TestExamples_golden(t *testing.T) {
	var out strings.Builder
	for _, file := range realFiles(t) {
		doc := readReal(t, file)
		e := exampleSender{doc: doc.Tree, t: t, v: doc.validator}
		for _, op := range doc.Operations {
			e.send(op)
		}
		fmt.Fprintf(&out, "# %s: %d operations, %d requests of examples, %d refused\n", file,
			len(doc.Operations), e.sent, e.wrong)
		for _, line := range e.refused {
			fmt.Fprintln(&out, line)
		}
	}
	golden.Compare(t, "testdata/examples.golden", out.String())
}

// exampleSender sends requests that are made of the examples of a document.
type exampleSender struct {
	doc     tree.Document
	t       *testing.T
	v       *Validator
	sent    int
	wrong   int
	refused []string // the first ones
}

// maxRefused bounds the refusals that are listed of a document.
const maxRefused = 40

func (e *exampleSender) report(problems []Problem, what string) {
	e.sent++
	if len(problems) == 0 {
		return
	}
	if e.wrong++; len(e.refused) < maxRefused {
		e.refused = append(e.refused, what+": "+problems[0].String())
	}
}

func (e *exampleSender) send(of openapi.Operation) {
	paths, _ := e.doc.Root["paths"].(map[string]any)
	item := e.doc.Resolve(paths[of.Path])
	node, _ := item[strings.ToLower(of.Method)].(map[string]any)
	path := of.Path
	for _, name := range pieces(path) {
		path = strings.Replace(path, "{"+name+"}", "7", 1)
	}
	m, ok := e.v.Find(of.Method, path)
	if !ok {
		e.t.Errorf("%s %s is not found", of.Method, of.Path)
		return
	}
	if m.Name != of.Method+" "+of.Path { // such as /a/{b} next to /a/7
		return
	}
	for _, p := range mergedParameters(e.doc.List(item["parameters"]), e.doc.List(node["parameters"])) {
		same := func(one parameter) bool { return one.name == p["name"] && one.in == p["in"] }
		i := slices.IndexFunc(m.parameters, same)
		if i < 0 {
			continue
		}
		for _, value := range e.examples(p) {
			e.parameter(m, &m.parameters[i], value)
		}
	}
	body := e.doc.Resolve(node["requestBody"])
	content, _ := body["content"].(map[string]any)
	for _, name := range tree.Keys(content) {
		if !m.ReadsBody(name) {
			continue
		}
		for _, value := range e.examples(e.doc.Resolve(content[name])) {
			text, err := json.Marshal(value)
			if err != nil {
				e.t.Fatal(err)
			}
			if mediaType(name) == formType {
				if _, isObject := value.(map[string]any); !isObject {
					continue
				}
				text = []byte(formOf(value))
			}
			e.report(m.Body(NewWork(e.t.Context()), name, "", text), m.Name+" "+name)
		}
	}
}

// examples returns the examples of a parameter or a content type, or else of its schema.
func (e *exampleSender) examples(node map[string]any) (out []any) {
	named, _ := node["examples"].(map[string]any)
	for _, name := range tree.Keys(named) {
		value, there := e.doc.Resolve(named[name])["value"]
		if object, _ := value.(map[string]any); there && object["$ref"] == nil { // which is another file
			out = append(out, value)
		}
	}
	schema := e.doc.Resolve(node["schema"])
	for _, of := range []map[string]any{node, schema} {
		if value, there := of["example"]; there {
			out = append(out, value)
		}
	}
	list, _ := schema["examples"].([]any)
	return append(out, list...)
}

// parameter sends a request with one parameter, as its style says, and lists also in brackets.
func (e *exampleSender) parameter(m Match, p *parameter, value any) {
	check := func(text string, values ...string) {
		r := &run{work: NewWork(e.t.Context())}
		if p.in == InQuery {
			pairs, _ := readArguments(text, len(text))
			p.checkQuery(r, r.arguments(pairs, m.bracketed))
		} else {
			p.check(r, values)
		}
		e.report(r.result(), m.Name)
	}
	list, isList := value.([]any)
	switch value := value.(type) {
	case map[string]any:
		if p.deep {
			check(formOf(map[string]any{p.name: value}))
		}
		return
	case nil:
		return
	case string:
		if value == "" && p.in == InPath {
			return
		}
	}
	name := url.QueryEscape(p.name)
	if !isList {
		text, _ := asText(value)
		check(name+"="+url.QueryEscape(text), text)
		return
	}
	var texts, pairs, brackets []string
	for i, item := range list {
		text, ok := asText(item)
		if !ok {
			return
		}
		texts = append(texts, text)
		pairs = append(pairs, name+"="+url.QueryEscape(text))
		brackets = append(brackets, fmt.Sprintf("%s[%d]=%s", name, i, url.QueryEscape(text)))
	}
	if p.in != InQuery {
		check("", strings.Join(texts, ","))
		return
	}
	if p.list != "" {
		check(name + "=" + url.QueryEscape(strings.Join(texts, p.list)))
	} else {
		check(strings.Join(pairs, "&"))
	}
	check(strings.Join(brackets, "&"))
}

// formOf returns an object as clients of Stripe, Rails and PHP write it.
func formOf(value any) string {
	var out []string
	var write func(name string, value any)
	write = func(name string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, member := range tree.Keys(value) {
				write(name+"["+member+"]", value[member])
			}
		case []any:
			for i, item := range value {
				write(fmt.Sprintf("%s[%d]", name, i), item)
			}
		case nil:
		default:
			text, _ := asText(value)
			out = append(out, url.QueryEscape(name)+"="+url.QueryEscape(text))
		}
	}
	object, _ := value.(map[string]any)
	for _, member := range tree.Keys(object) {
		write(member, object[member])
	}
	return strings.Join(out, "&")
}
