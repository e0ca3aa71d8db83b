package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/cmd/internal/terminal"
	"postern/handlers/pages/ascode"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// pagesWithoutCode are routes that answer with something other than a page of the dashboard's frame.
var pagesWithoutCode = map[string]string{
	"/projects/:project/usage.csv":     "is a file",
	"/exports/:export/ledger/download": "is a file",
	"/exports/:export/download":        "is a file",
	"/imports/:import/download":        "is a file",
	"/signin/:provider/callback":       "redirects",
	"/oauth/:client/tested":            "is for people who are not signed in",
	"/":                                "redirects",
	"/signin":                          "is for people who are not signed in",
	"/signup":                          "is for people who are not signed in",
	"/welcome/:code":                   "is for people who are not signed in",
	"/recover":                         "is for people who are not signed in",
	"/recover/:code":                   "is for people who are not signed in",
	"/email/:code":                     "is for people who are not signed in",
	"/docs":                            "is documentation",
	"/docs/:page":                      "is documentation",
	"/docs/reference/:tag":             "is documentation",
	"/brand/:color":                    "is a style sheet",
	"/static/*file":                    "is a file",
	"/healthz":                         "is for probes",
	"/readyz":                          "is for probes",
	"/metrics":                         "is for Prometheus",
	"/openapi.yaml":                    "is the API's description",
	"/openapi-3.0.json":                "is the API's description",
	"/openapi-3.0.yaml":                "is the API's description",
	"/.well-known/postern-export-key":  "is a key",
	"/.well-known/oauth-authorization-server/oauth/:client": "is for app clients",
	"/openapi.json":                      "is the API's description",
	"/.well-known/acme-challenge/:token": "is for a certificate authority",
}

// sampleReaders stand for the readers of the dashboard, which its own tests cover.
var sampleReaders = ascode.Readers{
	Rules: func(string) any { return []any{} },
	Transforms: func(string) any {
		out := &ascode.Object{}
		for _, operation := range []string{"remove", "rename", "replace", "add", "append"} {
			for _, list := range []string{"request.%s.headers", "request.%s.query", "request.%s.body",
				"response.%s.headers", "response.%s.body"} {
				out.Set(fmt.Sprintf(list, operation), []string{})
			}
		}
		for _, operation := range []string{"replace", "add", "append"} {
			out.Set("response."+operation+".body_types", []string{})
		}
		return out
	},
	KeyPlaces: func(url.Values) (any, []string) { return []any{}, nil },
	Issuers:   func(url.Values) (any, []string) { return []any{}, nil },
	Endpoint:  func(url.Values) (*ascode.Object, string) { return &ascode.Object{}, "" },
	Usage:     func(url.Values) (time.Time, []string) { return time.Unix(0, 0), []string{"key", "owner"} },
}

// TestAsCode holds every line that the dashboard offers to the API and to the commands, and the
// table of lines to the dashboard's routes.
func TestAsCode(t *testing.T) {
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	document := controlplane.Call(t, server.Handler(), "GET", "/openapi.json", "", "").Raw
	api, err := ascode.New([]byte(document), "http://server.test")
	if err != nil {
		t.Fatal(err)
	}
	check := codeCheck{api: api, schema: newSchemas(t, document), reaches: reaches(t)}
	table := ascode.NewTable(sampleReaders)
	pages, forms := maps.Clone(table.Pages), maps.Clone(table.Forms)
	for _, route := range controlplane.Routes(server) {
		if controlplane.IsAPI(route.Path) || strings.HasPrefix(route.Path, "/scim/") {
			continue
		}
		switch route.Method {
		case "GET":
			_, known := table.Pages[route.Path]
			_, excused := pagesWithoutCode[route.Path]
			if !known && !excused && !strings.HasPrefix(route.Path, "/oauth/") {
				t.Errorf("GET %s: add it to the pages of handlers/pages/ascode", route.Path)
			}
			delete(pages, route.Path)
		case "POST":
			_, known := table.Forms[route.Path]
			_, excused := dashboardForms["POST "+route.Path]
			if !known && !excused && isForm("POST "+route.Path) {
				t.Errorf("POST %s: add it to the forms of handlers/pages/ascode", route.Path)
			}
			delete(forms, route.Path)
		}
	}
	for route := range pages {
		t.Errorf("there is no page %s", route)
	}
	for route := range forms {
		t.Errorf("there is no form %s", route)
	}
	for route, page := range table.Pages {
		for _, call := range page.Reads {
			t.Run("GET "+route+" "+call.Operation, func(t *testing.T) { check.lines(t, route, call) })
		}
	}
	for route, calls := range table.Forms {
		for _, call := range calls {
			t.Run("POST "+route+" "+call.Operation, func(t *testing.T) {
				check.lines(t, route, call)
				check.reachable(t, "POST "+route, call)
			})
		}
	}
}

type codeCheck struct {
	api     *ascode.API
	schema  schemas
	reaches map[string]*reach
}

var (
	parameter = regexp.MustCompile(`\{(\w+)\}`)
	segment   = regexp.MustCompile(`:(\w+)`)
)

// lines writes a call with every field filled in, and with none.
func (k codeCheck) lines(t *testing.T, route string, call ascode.Call) {
	params, filled := map[string]string{}, url.Values{}
	for _, match := range segment.FindAllStringSubmatch(route, -1) {
		params[match[1]] = match[1] + "-1"
	}
	for _, match := range parameter.FindAllStringSubmatch(call.Command, -1) {
		filled.Set(match[1], "5")
	}
	for _, f := range slices.Concat(call.Fields, call.Query) {
		filled.Set(f.Name, "5")
	}
	filled["methods"] = []string{"jwt", "opaque"}
	for _, day := range []string{"expires_at", "from", "to"} {
		filled.Set(day, "2030-01-31")
	}
	filled.Set("limits_minute", "5")
	filled.Set("key.minute", "5")
	filled.Set("sort", "name")
	filled.Set("keys_sort", "created")
	for _, form := range []url.Values{filled, {}} {
		lines := k.api.Write(call, params, form)
		if call.Operation != "" {
			k.curl(t, call, testkit.ShellArguments(t, lines.Curl)["curl"])
		}
		if call.Command != "" {
			checkCommand(t, testkit.ShellArguments(t, lines.CLI)["postern"])
		}
	}
}

func (k codeCheck) curl(t *testing.T, call ascode.Call, args []string) {
	t.Helper()
	method, data := "GET", ""
	var address string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-X":
			i++
			method = args[i]
		case "-H":
			i++
		case "-d", "--data-binary":
			i++
			data = args[i]
		case "-s":
		default:
			address = args[i]
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	one, ok := k.schema.operations[call.Operation]
	if !ok {
		t.Fatalf("the API has no operation %s", call.Operation)
	}
	path := regexp.MustCompile("^" + parameter.ReplaceAllString(one.path, `[^/{}]+`) + "$")
	if method != one.method || !path.MatchString(u.EscapedPath()) || strings.Contains(address, "{") {
		t.Errorf("the line calls %s %s, and %s is %s %s", method, address, call.Operation, one.method, one.path)
	}
	for name := range u.Query() {
		if !slices.Contains(one.query, name) {
			t.Errorf("%s takes no %s in the query", call.Operation, name)
		}
	}
	switch {
	case strings.HasPrefix(data, "@"):
		if one.body == nil {
			t.Errorf("%s takes no body", call.Operation)
		}
	case data != "":
		var body any
		if err := json.Unmarshal([]byte(data), &body); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		k.schema.check(t, call.Operation, one.body, body)
	case one.required:
		t.Errorf("%s needs a body", call.Operation)
	}
}

// checkCommand finds the command of a line and parses what it is given.
func checkCommand(t *testing.T, args []string) {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "FILE")
	if err := os.WriteFile(secret, []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, arg := range args {
		if arg == "FILE" { // which stands for one with a secret, and is read with the flags
			args[i] = secret
		}
	}
	root := newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")})
	command, rest, err := root.Find(args)
	if err == nil && !command.Runnable() {
		t.Fatalf("postern %q is not a command", args)
	}
	if err == nil {
		err = command.ParseFlags(rest)
	}
	if err == nil {
		err = command.ValidateArgs(command.Flags().Args())
	}
	if err != nil {
		t.Errorf("postern %q: %v", args, err)
	}
}

// reachable compares the command of a form or a page with those of its operation.
func (k codeCheck) reachable(t *testing.T, route string, call ascode.Call) {
	t.Helper()
	one := k.reaches[call.Operation]
	if one == nil {
		t.Errorf("%s has the unknown operation %q", route, call.Operation)
		return
	}
	if call.Command != "" && !slices.ContainsFunc(one.commands, func(c string) bool {
		return strings.HasPrefix(call.Command+" ", c+" ")
	}) {
		t.Errorf("%s has the command %q, and %s the commands %q", route, call.Command, call.Operation, one.commands)
	}
}

// schemas are the bodies of the API's operations.
type schemas struct {
	operations map[string]operationSchema
	named      map[string]map[string]any
}

type operationSchema struct {
	method, path string
	query        []string
	body         map[string]any
	required     bool
}

func newSchemas(t *testing.T, document string) schemas {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string                      `json:"operationId"`
			Parameters []struct{ Name, In string } `json:"parameters"`
			Body       struct {
				Required bool
				Content  map[string]struct{ Schema map[string]any }
			} `json:"requestBody"`
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	out := schemas{operations: map[string]operationSchema{}, named: doc.Components.Schemas}
	for path, methods := range doc.Paths {
		for method, one := range methods {
			o := operationSchema{method: strings.ToUpper(method), path: path, required: one.Body.Required}
			for _, p := range one.Parameters {
				if p.In == "query" {
					o.query = append(o.query, p.Name)
				}
			}
			for _, content := range one.Body.Content {
				o.body = content.Schema
			}
			out.operations[one.ID] = o
		}
	}
	return out
}

// check compares the members of a body with its schema, and its required members.
func (s schemas) check(t *testing.T, at string, schema map[string]any, value any) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = s.named[ref[strings.LastIndex(ref, "/")+1:]]
	}
	switch value := value.(type) {
	case map[string]any:
		properties, ok := schema["properties"].(map[string]any)
		if !ok {
			return // raw JSON, or a member without its own schema
		}
		for name, member := range value {
			of, ok := properties[name].(map[string]any)
			if !ok {
				t.Errorf("%s has no member %s", at, name)
				continue
			}
			s.check(t, at+"/"+name, of, member)
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := value[name.(string)]; !ok {
				t.Errorf("%s lacks %s", at, name)
			}
		}
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for _, item := range value {
				s.check(t, at+"[]", items, item)
			}
		} else if schema["type"] != nil {
			t.Errorf("%s is not a list", at)
		}
	}
}
