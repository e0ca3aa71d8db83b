package ascode_test

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"postern/handlers/pages/ascode"
	"postern/testkit"
)

const document = `{"paths": {
	"/api/v1/projects/{project}/keys": {
		"get": {"operationId": "list-keys", "summary": "List keys"},
		"post": {
			"operationId": "create-key", "summary": "Create a key",
			"requestBody": {"content": {"application/json": {}}}
		}
	},
	"/api/v1/keys/{key}/freeze": {"post": {"operationId": "freeze-key"}},
	"/api/v1/things": {"put": {"operationId": "set", "requestBody": {"content": {"application/json": {}}}}}
}}`

func newAPI(t testing.TB) *ascode.API {
	t.Helper()
	api, err := ascode.New([]byte(document), "https://postern.example")
	if err != nil {
		t.Fatal(err)
	}
	return api
}

var hostile = []string{
	"plain", "", "two words", "it's", `"quoted"`, "$HOME `id` $(id)", "a\nb", "tab\there", "-n", "--owner",
	"ü ☃ 你好", `back\slash`, "*", "~", "#x", "a=b", "!x", "&;|<>", "{a,b}", "'", "''", "%25", "trailing\\",
}

func TestLines_throughShell(t *testing.T) {
	for _, value := range hostile {
		t.Run(value, func(t *testing.T) { checkLines(t, value) })
	}
}

func TestCommand(t *testing.T) {
	want := []string{"upstreams", "check", "it's", "$HOME", "--version", ""}
	if got := testkit.ShellArguments(t, ascode.Command(want...))["postern"]; !slices.Equal(got, want) {
		t.Errorf("postern got %q, want %q", got, want)
	}
}

func FuzzLines(f *testing.F) {
	for _, value := range hostile {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !strings.ContainsRune(value, 0) && utf8.ValidString(value) { // others are refused when they are posted
			checkLines(t, value)
		}
	})
}

func checkLines(t *testing.T, value string) {
	call := ascode.Call{
		Operation: "create-key", Command: "keys create {project}",
		Fields: []ascode.Field{
			ascode.Text("owner", "owner", "--owner").Keep(), ascode.PerLine("allowed", "allowed_cidrs", "--cidr"),
		},
	}
	form := url.Values{"owner": {value}, "allowed": {value}}
	lines := newAPI(t).Write(call, map[string]string{"project": value}, form)
	got := testkit.ShellArguments(t, lines.Curl)["curl"]
	want := []string{
		"-X", "POST", "https://postern.example/api/v1/projects/" + url.PathEscape(value) + "/keys",
		"-H", "Authorization: Bearer tok", "-H", "Content-Type: application/json", "-d",
	}
	if len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) {
		t.Fatalf("curl got %q, want %q and a body", got, want)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(got[len(want)]), &body); err != nil {
		t.Fatal(err)
	}
	if body["owner"] != strings.TrimSpace(value) {
		t.Errorf("the body has the owner %q, want %q", body["owner"], value)
	}
	flags := []string{"--owner", strings.TrimSpace(value)}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			flags = append(flags, "--cidr", line)
		}
	}
	wantCLI := append([]string{"keys", "create", value}, flags...)
	if strings.HasPrefix(value, "-") {
		wantCLI = slices.Concat([]string{"keys", "create"}, flags, []string{"--", value})
	}
	if got := testkit.ShellArguments(t, lines.CLI)["postern"]; !slices.Equal(got, wantCLI) {
		t.Errorf("postern got %q, want %q", got, wantCLI)
	}
}

func TestWrite(t *testing.T) {
	for name, test := range map[string]struct {
		call ascode.Call
		form url.Values
		curl string // the body
		cli  []string
	}{
		"left out when empty": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{ascode.Text("a", "a", "--a")}},
			nil, `{}`, []string{"x"},
		},
		"kept when empty": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{ascode.Text("a", "a", "--a").Keep()}},
			nil, `{"a":""}`, []string{"x", "--a", ""},
		},
		"default": {
			ascode.Call{
				Operation: "set", Command: "x {a} {b}",
				Fields: []ascode.Field{ascode.Text("a", "a", "").Or("GET"), ascode.Text("b", "b", "").Or("/")},
			},
			url.Values{"b": {"/orders"}}, `{"a":"GET","b":"/orders"}`, []string{"x", "GET", "/orders"},
		},
		"needed": {
			ascode.Call{Operation: "set", Command: "x {a}", Fields: []ascode.Field{ascode.Text("a", "a", "").Need()}},
			nil, `{"a":"A"}`, []string{"x", "A"},
		},
		"null": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{ascode.Nullable("a", "a", "--a")}},
			nil, `{"a":null}`, []string{"x", "--a", ""},
		},
		"secret": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{ascode.Secret("a-b", "a", "--a-file")}},
			url.Values{"a-b": {"hunter2"}}, `{"a":"A_B"}`, []string{"x", "--a-file", "FILE"},
		},
		"boxes": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{
				ascode.Bool("a", "a", "--a").Keep(), ascode.Bool("b", "b", "--on", "--off").Keep(),
				ascode.Bool("c", "c", "--c").Keep(), ascode.Bool("d", "d", "--d"),
			}},
			url.Values{"c": {"true"}}, `{"a":false,"b":false,"c":true}`, []string{"x", "--a=false", "--off", "--c"},
		},
		"list with commas": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{
				ascode.Joined(ascode.Several("a", "a", "--a")), ascode.Several("b", "b", "--b").Keep(),
			}},
			url.Values{"a": {"1", "2,3"}}, `{"a":["1","2,3"],"b":[]}`, []string{"x", "--a", `1,"2,3"`, "--b", ""},
		},
		"day": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{ascode.Day("a", "a", "--a")}},
			url.Values{"a": {"2030-12-31"}}, `{"a":"2030-12-31T23:59:59Z"}`,
			[]string{"x", "--a", "2030-12-31T23:59:59Z"},
		},
		"limits": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{
				ascode.LimitRows("key", "limits.key", "--limit", "key:", "--no-limits", "key").Keep(),
				ascode.LimitRows("ip", "limits.ip", "--limit", "ip:", "--no-limits", "ip").Keep(),
			}},
			url.Values{
				"limit_of":     {"key", "key", "ip"},
				"limit_window": {"minute", "day", "day"},
				"limit_calls":  {"5,000", "many", ""},
			},
			`{"limits":{"key":{"minute":5000,"day":"many"},"ip":{}}}`,
			[]string{"x", "--limit", "key:minute=5000", "--limit", "key:day=many", "--no-limits", "ip"},
		},
		"number": {
			ascode.Call{Operation: "set", Command: "x", Fields: []ascode.Field{
				ascode.Number("a", "a", "--a", 60, "m"),
			}},
			url.Values{"a": {" 1,440 "}}, `{"a":86400}`, []string{"x", "--a", "1440m"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines := newAPI(t).Write(test.call, nil, test.form)
			got := testkit.ShellArguments(t, lines.Curl)["curl"]
			var body, want any
			if err := json.Unmarshal([]byte(got[len(got)-1]), &body); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(test.curl), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(body, want) {
				t.Errorf("the body is %s, want %s", got[len(got)-1], test.curl)
			}
			if got := testkit.ShellArguments(t, lines.CLI)["postern"]; !slices.Equal(got, test.cli) {
				t.Errorf("postern got %q, want %q", got, test.cli)
			}
			if strings.Contains(lines.Curl+lines.CLI, "hunter2") {
				t.Error("the lines have a secret")
			}
		})
	}
}

func TestReadForms(t *testing.T) {
	const page = `<form method="get" action="/search"><input name="q" value="x"><button>Go</button></form>
<form method="post" action="/a" id="a">
	<input type="hidden" name="nonce" value="n"><input name="text" value="it&#39;s">
	<input type="password" name="secret" value="hunter2">
	<input type="checkbox" name="on" value="true" checked><input type="checkbox" name="off" value="true">
	<input type="radio" name="r" value="1"><input type="radio" name="r" value="2" checked>
	<select name="s"><option value="x">X</option><option value="y" selected>Y</option></select>
	<select name="first"><option value="x">X</option><option value="y">Y</option></select>
	<textarea name="lines">
one
two &amp; three</textarea>
	<fieldset disabled><input name="no" value="1"><fieldset><input name="no" value="2"></fieldset></fieldset>
	<input name="gone" value="1" disabled>
	<button type="button" name="no" value="3">No</button><button name="do" value="save">Save</button>
	<button name="do" value="other">Other</button>
</form>
<input name="late" value="1" form="a">
<form method="post" action="/unsent"><input name="x" value="1"></form>
<form method="post" action="/viewer"><button disabled>Save</button></form>`
	got := ascode.ReadForms([]byte(page))
	want := url.Values{
		"nonce": {"n"}, "text": {"it's"}, "secret": {""}, "on": {"true"}, "r": {"2"}, "s": {"y"}, "first": {"x"},
		"lines": {"one\ntwo & three"}, "do": {"save"}, "late": {"1"},
	}
	if len(got) != 1 || got[0].Action != "/a" || !reflect.DeepEqual(got[0].Values, want) {
		t.Errorf("got %+v, want the form at /a with %v", got, want)
	}
}

func TestTable_page(t *testing.T) {
	table := ascode.NewTable(ascode.Readers{})
	for path, test := range map[string]struct{ command, project string }{
		"/projects":               {"projects list", ""},
		"/projects/new":           {"projects list", ""},
		"/projects/shop":          {"projects show {project}", "shop"},
		"/projects/shop/keys":     {"keys list {project}", "shop"},
		"/projects/new/keys":      {"keys list {project}", "new"},
		"/projects/a%2fb":         {"projects show {project}", "a/b"},
		"/projects/":              {},
		"/elsewhere":              {},
		"/projects/%zz":           {},
		"/projects/shop/keys/1/2": {},
	} {
		t.Run(path, func(t *testing.T) {
			page, params := table.Page(path)
			command := ""
			if len(page.Reads) > 0 {
				command = page.Reads[0].Command
			}
			if command != test.command || params["project"] != test.project {
				t.Errorf("got %q of the project %q, want %q of %q",
					command, params["project"], test.command, test.project)
			}
		})
	}
}

func TestTable_form(t *testing.T) {
	table := ascode.NewTable(ascode.Readers{})
	for name, test := range map[string]struct {
		action    string
		values    url.Values
		operation string
		param     string
	}{
		"parameter":      {"/teams/team_1/rename", nil, "update-team", "team_1"},
		"escaped":        {"/teams/a%2fb/rename", nil, "update-team", "a/b"},
		"fixed":          {"/teams", nil, "create-team", ""},
		"for a browser":  {"/account/password", nil, "", ""},
		"no such form":   {"/teams/team_1/rename/it", nil, "", ""},
		"empty segment":  {"/teams//rename", nil, "", ""},
		"broken escapes": {"/teams/%zz/rename", nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			call, ok := table.Form(test.action, test.values)
			if ok != (test.operation != "") || call.Operation != test.operation || call.Params["team"] != test.param {
				t.Errorf("got %q of the team %q, %v; want %q of %q",
					call.Operation, call.Params["team"], ok, test.operation, test.param)
			}
		})
	}
	one, _ := table.Form("/teams/team_1/rename", nil)
	other, _ := table.Form("/teams/team_2/rename", nil)
	if one.Kind == "" || one.Kind != other.Kind {
		t.Errorf("the forms of two teams have the kinds %q and %q", one.Kind, other.Kind)
	}
}
