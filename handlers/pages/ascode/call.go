package ascode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Call is an operation of the API with the command that does the same.
type Call struct {
	Operation string                // its id, "" if there is none
	Command   string                // its words, or ""; {name} is a parameter of the path or a field
	Fields    []Field               // what else is sent
	Query     []Field               // of the query of the operation's URL
	Params    map[string]string     // parameters of the operation that are named otherwise, such as "{group}"
	When      func(url.Values) bool // whether a form that was filled in so does this, or a page of this path; nil: yes
	Body      func(url.Values) any  // in place of Fields, for a body that is not an object of them
	Edit      func(url.Values) string
	// Edit is a filter of jq(1) that changes what GET of the same address answers, for
	// operations that replace a list to which a form adds one.
	Input func(url.Values) string // what the command reads, "" for nothing
	Media string                  // the media type of a file that is the body, "" if the body is none
	Note  string                  // a sentence on what the lines leave out
}

// API is where calls go.
type API struct {
	server     string
	operations map[string]operation
}

type operation struct {
	method, path, summary, media string
}

// New returns an API that is described by an OpenAPI document and reached at server.
func New(document []byte, server string) (*API, error) {
	var doc struct {
		Paths map[string]map[string]struct {
			ID      string `json:"operationId"`
			Summary string `json:"summary"`
			Body    struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	api := &API{server: server, operations: map[string]operation{}}
	for path, methods := range doc.Paths {
		for method, one := range methods {
			o := operation{method: strings.ToUpper(method), path: path, summary: one.Summary}
			for media := range one.Body.Content { // of several, always the same
				o.media = max(o.media, media)
			}
			api.operations[one.ID] = o
		}
	}
	return api, nil
}

// Server is the URL of the API.
func (a *API) Server() string { return a.server }

// Lines are the texts of one call. Empty ones do not exist.
type Lines struct {
	Title string
	Curl  string
	CLI   string
	Note  string
}

// Write writes a call with the parameters of the page's path and the values of the form.
func (a *API) Write(c Call, params map[string]string, form url.Values) Lines {
	form = withParams(form, params)
	out := Lines{Note: c.Note}
	if o, ok := a.operations[c.Operation]; ok {
		out.Title = o.summary
		out.Curl = a.curl(o, c, params, form)
	}
	if c.Command != "" {
		out.CLI = command(c, params, form)
	}
	return out
}

// withParams is a copy of a form with the parameters that it has no fields for.
func withParams(form url.Values, params map[string]string) url.Values {
	out := maps.Clone(form)
	if out == nil {
		out = url.Values{}
	}
	for name, value := range params {
		if !out.Has(name) {
			out.Set(name, value)
		}
	}
	return out
}

func (a *API) curl(o operation, c Call, params map[string]string, form url.Values) string {
	address := a.server + fillPath(o.path, c, params, form)
	if query := queryOf(c.Query, form); query != "" {
		address += "?" + query
	}
	head := words("curl")
	if o.method != "GET" {
		head = append(head, words("-X", o.method)...)
	}
	token := append(words("-H"), word{text: `"Authorization: Bearer $POSTERN_TOKEN"`, shell: true})
	groups := [][]word{append(head, word{text: address}), token}
	var content any
	switch {
	case c.Edit != nil:
		read := line(append(words("curl", "-s"), word{text: address}), token)
		edit := line(append(words("jq"), word{text: c.Edit(form)}))
		groups = append(groups, words("-H", "Content-Type: application/json"), words("-d", "@-"))
		return read + " |\n  " + edit + " |\n  " + line(groups...)
	case c.Media != "":
		groups = append(groups, words("-H", "Content-Type: "+c.Media), words("--data-binary", "@FILE"))
		return line(groups...)
	case c.Body != nil:
		content = c.Body(form)
	case o.media != "" && len(c.Fields) > 0:
		content = bodyOf(c.Fields, form)
	}
	if content != nil {
		text, ok := content.(Raw)
		if !ok {
			text = Raw(document(content))
		}
		data := "-d"
		if strings.HasPrefix(string(text), "@") {
			data = "--data-binary"
		}
		groups = append(groups, words("-H", "Content-Type: "+o.media), words(data, string(text)))
	}
	return line(groups...)
}

// Raw is a body as it is sent; one that begins with @ names a file.
type Raw string

func bodyOf(fields []Field, form url.Values) any {
	body := &Object{}
	for _, f := range fields {
		value, _ := f.value(form)
		if f.Member != "" && value != nil {
			body.Set(f.Member, value)
		}
	}
	return body
}

// repeated is a list that a query has once for each of its values.
type repeated []string

func queryOf(fields []Field, form url.Values) string {
	out := url.Values{}
	for _, f := range fields {
		value, _ := f.value(form)
		if f.Member == "" || value == nil {
			continue
		}
		switch value := value.(type) {
		case repeated:
			out[f.Member] = value
		case []string:
			out.Set(f.Member, strings.Join(value, ","))
		default:
			out.Set(f.Member, fmt.Sprint(value))
		}
	}
	return out.Encode()
}

func fillPath(path string, c Call, params map[string]string, form url.Values) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		text := cmp.Or(c.Params[name], "{"+name+"}")
		segments[i] = url.PathEscape(fill(text, c, params, form))
	}
	return strings.Join(segments, "/")
}

// fill replaces {name} by the parameter of that name, or else the value of the call's field or of the form's.
func fill(text string, c Call, params map[string]string, form url.Values) string {
	before, rest, found := strings.Cut(text, "{")
	name, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return text
	}
	value, ok := params[name]
	if !ok {
		value = cmp.Or(c.argument(name, form), strings.TrimSpace(form.Get(name)), Placeholder(name))
	}
	return before + value + fill(after, c, params, form)
}

// argument is the text of the field of that name, or "" if the call lacks it.
func (c Call) argument(name string, form url.Values) string {
	for _, f := range slices.Concat(c.Query, c.Fields) {
		if f.Name == name {
			member, _ := f.value(form)
			text, _ := member.(string)
			return text
		}
	}
	return ""
}

// command is a line of postern. Flags go before arguments that look like flags.
func command(c Call, params map[string]string, form url.Values) string {
	var flags [][]word
	for _, f := range slices.Concat(c.Query, c.Fields) {
		_, given := f.value(form)
		for _, flag := range given {
			flags = append(flags, words(flag...))
		}
	}
	head := words("postern")
	var dashed []word
	for _, part := range strings.Fields(c.Command) {
		text := fill(part, c, params, form)
		asFlag := strings.HasPrefix(part, "{") && strings.HasPrefix(text, "-")
		if asFlag || dashed != nil && !strings.HasPrefix(part, "--") {
			dashed = append(dashed, word{text: text})
			continue
		}
		head = append(head, word{text: text})
	}
	groups := append([][]word{head}, flags...)
	if dashed != nil {
		groups = append(groups, append(words("--"), dashed...))
	}
	text := line(groups...)
	if c.Input != nil {
		if input := c.Input(form); input != "" {
			text += " <<'JSON'\n" + input + "\nJSON"
		}
	}
	return text
}
