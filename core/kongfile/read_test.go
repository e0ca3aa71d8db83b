package kongfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"postern/core/configfile"
	"postern/core/kongfile"
)

const minimal = "_format_version: \"3.0\"\n"

func TestRecognizes(t *testing.T) {
	for text, want := range map[string]bool{
		minimal:                               true,
		`{"_format_version":"3.0"}`:           true,
		`{"services":[],"_format_version":1}`: true,
		"services:\n- name: a\n":              true,
		`{"config":"_format_version: '3.0'"}`: true,
		"openapi: 3.0.0\npaths: {}\n":         false,
		`{"config":"x"}`:                      false,
		"PK\x03\x04":                          false,
		"":                                    false,
	} {
		if got := kongfile.Recognizes([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// describe returns the entities of a file with what they refer to.
func describe(f *kongfile.File) string {
	var out []string
	for _, e := range f.Entities {
		line := fmt.Sprintf("%s %s:%d", e.Type, e.Pointer, e.Line)
		for name, to := range map[string]*kongfile.Entity{"service": e.Service, "consumer": e.Consumer} {
			if to != nil {
				line += " " + name + "=" + to.Pointer
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func TestRead(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nested", minimal + "services:\n- name: a\n  routes:\n  - name: r\n    plugins:\n    - name: cors\n",
			"service /services/0:3; route /services/0/routes/0:5 service=/services/0; " +
				"plugin /services/0/routes/0/plugins/0:7"},
		{"by name", minimal + "services:\n- name: a\nroutes:\n- service: a\n",
			"service /services/0:3; route /routes/0:5 service=/services/0"},
		{"by the id in an object", minimal + "services:\n- id: x\n  name: a\nroutes:\n- service: {id: x}\n",
			"service /services/0:3; route /routes/0:6 service=/services/0"},
		{"by custom_id", minimal + "consumers:\n- custom_id: c\nkeyauth_credentials:\n- consumer: c\n  key: k\n",
			"consumer /consumers/0:3; keyauth_credential /keyauth_credentials/0:5 consumer=/consumers/0"},
		{"null", minimal + "services: ~\nroutes:\n- name: r\n  service: ~\n", "route /routes/0:4"},
		{"JSON", "{\"_format_version\":\"2.1\",\n\"services\":[\n{\"name\":\"a\",\n\"routes\":[{}]}]}",
			"service /services/0:3; route /services/0/routes/0:4 service=/services/0"},
		{"unknown", minimal + "wonders:\n- 1\n- 2\nsetting: {a: b}\n",
			"wonders /wonders/0:3; wonders /wonders/1:4; setting /setting/0:5"},
		{"answer of GET /config", `{"config":"_format_version: '3.0'\nservices:\n- id: s\n  path: ~\n"}`,
			"service /services/0:3"},
		{"aliases and merges", minimal + "x-base: &b {retries: 1}\nservices:\n- <<: *b\n  name: a\n- *b\n",
			"x-base /x-base/0:2; service /services/0:4; service /services/1:6"},
	} {
		f, err := kongfile.Read([]byte(tt.text), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := describe(f); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestRead_defaults(t *testing.T) {
	for _, tt := range []struct{ name, text, member, want string }{
		{"port of url", minimal + "services: [{url: 'https://a.example/x'}]", "port", "443"},
		{"port with host and protocol", minimal + "services: [{host: a, protocol: https}]", "port", "80"},
		{"url wins", minimal + "services: [{host: b, port: 1, url: 'http://a.example'}]", "host", "a.example"},
		{"a URL that can't be read isn't repeated", minimal + "services: [{url: 'http://u:p@ h'}]", "host", ""},
		{"decK's defaults", minimal + "_info: {defaults: {service: {retries: 9}}}\nservices: [{host: " +
			"a}]", "retries", "9"},
		{"target", minimal + "targets: [{target: a.example}]", "target", "a.example:8000"},
		{"target with a port", minimal + "targets: [{target: 'a.example:1'}]", "target", "a.example:1"},
		{"weight", minimal + "targets: [{target: a.example}]", "weight", "100"},
	} {
		f, err := kongfile.Read([]byte(tt.text), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := f.Entities[0].Value.Get(tt.member).Text; got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// Before 3.0, a path with another character than a prefix can have was a regular expression.
func TestRead_regexes(t *testing.T) {
	for version, want := range map[string]string{
		"1.1": "/a ~/b(.*) /c~d.e-f_%20", "2.1": "/a ~/b(.*) /c~d.e-f_%20", "3.0": "/a /b(.*) /c~d.e-f_%20",
	} {
		text := `{"_format_version":"` + version + `","routes":[{"paths":["/a","/b(.*)","/c~d.e-f_%20"]}]}`
		f, err := kongfile.Read([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.Entities[0].Value.Get("paths").Texts(), " "); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

func TestRead_pluginNames(t *testing.T) {
	f, err := kongfile.Read([]byte(minimal+"_plugin_configs: {base: {allow: [x], hide_groups_header: true}}\n"+
		"plugins:\n- {name: acl, config: {whitelist: [a]}}\n- {name: acl, config: {allow: [b], whitelist: [c]}}\n"+
		"- {name: acl, _config: base, config: {allow: [d]}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a", "b", "d"} {
		if got := strings.Join(f.Entities[i].Config("allow").Texts(), " "); got != want {
			t.Errorf("plugin %d allows %s, want %s", i, got, want)
		}
	}
	if !f.Entities[2].Config("hide_groups_header").Bool(false) {
		t.Error("a member of _plugin_configs is missing")
	}
}

func TestRead_placeholders(t *testing.T) {
	text := minimal + `# $COMMENT doesn't count
services:
- {name: a, host: ${HOST}, port: ${{ env "DECK_PORT" | toInt }}}
- {name: b, url: "http://{{ .Values.host }}/x"}
- {name: __NAME__, host: "$HOST"}
- {name: d, host: "{vault://env/up}", path: /REPLACE_ME}
consumers:
- {username: a, keyauth_credentials: [{key: $ANON_KEY}]}
plugins:
- {name: request-transformer, config: {add: {headers: ["X:$(headers.y)"]}}}
`
	f, err := kongfile.Read([]byte(text), map[string]string{"HOST": "one.example", "DECK_PORT": "8443"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range f.Placeholders {
		got = append(got, fmt.Sprintf("%s:%d×%d %v", p.Name, p.Line, p.Count, p.Filled))
	}
	want := "DECK_PORT:4×1 true; HOST:4×2 true; Values.host:5×1 false; NAME:6×1 false; REPLACE_ME:7×1 false; " +
		"env/up:7×1 false; ANON_KEY:9×1 false"
	if all := strings.Join(got, "; "); all != want {
		t.Errorf("placeholders\n%s\nwant\n%s", all, want)
	}
	first := f.Entities[0].Value
	if first.Get("host").Text != "one.example" || first.Get("port").Int(0) != 8443 || len(first.Unfilled()) > 0 {
		t.Errorf("not filled: %v", first)
	}
	if key := f.Of(kongfile.KeyAuth)[0].Value.Get("key"); len(key.Placeholders) != 1 || key.Text != "$ANON_KEY" {
		t.Errorf("the key is %v", key)
	}
}

// A value of a placeholder is a text, whatever it has in it.
func TestRead_placeholderValue(t *testing.T) {
	value := "a: b\n- c #\"'"
	f, err := kongfile.Read([]byte(minimal+"services: [{name: \"$NAME\"}]"), map[string]string{"NAME": value})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Entities[0].Name(); got != value {
		t.Errorf("%q", got)
	}
}

func TestFile_effective(t *testing.T) {
	text := minimal + `
services:
- name: a
  plugins: [{name: cors, config: {max_age: 2}}, {name: acl, enabled: false}]
  routes:
  - {name: own, plugins: [{name: cors, config: {max_age: 3}}]}
  - {name: both}
  - {name: rest}
plugins:
- {name: cors, config: {max_age: 1}}
- {name: cors, route: both, service: a, config: {max_age: 4}}
- {name: cors, consumer: c, config: {max_age: 5}}
- {name: acl, config: {allow: [x]}}
- {name: jwt, route: gone}
consumers: [{username: c}]
`
	f, err := kongfile.Read([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{3, 4, 2} {
		r := f.Of(kongfile.Route)[i]
		plugins := f.Effective(r)
		if got := plugins["cors"].Config("max_age").Int(0); got != want {
			t.Errorf("%s has %d, want %d", r.Name(), got, want)
		}
		// What is off replaces nothing.
		if len(plugins) != 2 || plugins["acl"] == nil {
			t.Errorf("%s has %v", r.Name(), plugins)
		}
	}
}

func TestRead_errors(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for name, tt := range map[string]struct {
		text, want string
		line       int
	}{
		"no version":      {"services: []\n", "has no _format_version", 0},
		"another version": {"x: 1\n_format_version: '0.1'\n", "isn't 1.1, 2.1 or 3.0", 2},
		"twice": {
			minimal + "services:\n- name: a\n  host: secretA\n  host: secretB\n", `"host" already appears on ` +
				`line 4`, 5,
		},
		"twice in JSON": {"{\"_format_version\":\"3.0\",\n\"services\":[],\n\"services\":[]}", "already appears " +
			"on line 2", 3},
		"NUL":             {minimal + "services: [\x00]", "NUL", 2},
		"UTF-16":          {"\xff\xfe_\x00", "UTF-16", 0},
		"not UTF-8":       {minimal + "services: [\xe9]", "UTF-8", 0},
		"syntax":          {minimal + "services:\n- name: 'secretA\n", "isn't valid YAML", 0},
		"JSON syntax":     {"{\"_format_version\": \"3.0\",\n\"services\": [secretA]}", "isn't an object", 0},
		"two documents":   {minimal + "---\n" + minimal, "second document", 2},
		"not a list":      {minimal + "services: {a: b}\n", "requires a list", 2},
		"nested too deep": {minimal + "services: " + deep, "50 levels", 0},
		"empty":           {"", "empty", 0},
		"a text":          {"secretA", "isn't an object", 1},
	} {
		_, err := kongfile.Read([]byte(tt.text), nil)
		e, ok := errors.AsType[*configfile.Error](err)
		switch {
		case name == "JSON syntax" && err == nil: // YAML's flow style has texts without quotes
		case !ok:
			t.Errorf("%s: %v", name, err)
		case !strings.Contains(e.Detail, tt.want) || tt.line > 0 && e.Line != tt.line:
			t.Errorf("%s: line %d: %s", name, e.Line, e.Detail)
		case strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error has a value: %v", name, err)
		}
	}
}

// A hostile file is refused, and takes no more memory than its limits allow.
func TestRead_hostile(t *testing.T) {
	var bomb bytes.Buffer
	bomb.WriteString(minimal + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i,
			i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	plugins, err := json.Marshal(map[string]any{
		"_format_version": "3.0", "plugins": make([]struct{}, 100_000),
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"aliases":         {bomb.String(), "10 times larger"},
		"itself":          {minimal + "services: &s [*s]\n", ""},
		"100,000 plugins": {string(plugins), "20,000 plugins"},
		"20 MB":           {minimal + strings.Repeat("#", 20<<20), "20 MB"},
		"brackets":        {minimal + "a: " + strings.Repeat("[", 5<<20), "50 levels"},
		"JSON brackets":   {strings.Repeat(`{"a":`, 1<<20), "50 levels"},
		"commas":          {minimal + "a: [" + strings.Repeat(",", 5<<20) + "]", "values"},
		"directives":      {strings.Repeat("%TAG ! x\n", 200) + minimal, "directives"},
		"placeholders":    {minimal + placeholders(2000), "1,000 different placeholders"},
	} {
		_, err := kongfile.Read([]byte(tt.text), nil)
		if _, ok := errors.AsType[*configfile.Error](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A small file doesn't become a large plan: what the plan repeats is short, or counted as often as it is repeated.
func TestRead_amplified(t *testing.T) {
	long, longer := strings.Repeat("x", 501), strings.Repeat("x", 50_000)
	services := func(n int, service, route string) string {
		var out strings.Builder
		out.WriteString("services:\n")
		for i := range n {
			fmt.Fprintf(&out, "- {name: s%d, host: a.example.com%s, routes: [{paths: [/p]%s}]}\n", i, service, route)
		}
		return out.String()
	}
	header := "{name: request-transformer, config: {add: {headers: ['x-a:" + longer + "']}}}"
	routes := func(plugins string) string {
		return "services:\n- {name: s, host: a.example.com, routes: [" +
			strings.Repeat("{paths: [/p]"+plugins+"},", 3000) + "]}\nplugins: [" + header + "]\n"
	}
	for name, tt := range map[string]struct{ text, want string }{
		"a username": {
			"consumers:\n- username: " + long + "\n  keyauth_credentials: [{key: a}, {key: b}]\n",
			"The username of the consumer at /consumers/0 has more than 500 bytes. Shorten it.",
		},
		"a username of 500 bytes": {"consumers:\n- username: " + long[1:] + "\n", ""},
		"a plugin":                {"plugins:\n- name: " + long + "\n", "The name of the plugin at /plugins/0"},
		"a path":                  {"services:\n- url: http://a.example.com/" + long + "\n", "The path of the service"},
		"a Host header": {
			"upstreams:\n- {name: u, host_header: " + long + "}\n",
			"The host_header of the upstream",
		},
		"a default name": {
			"_info: {defaults: {consumer_group: {name: " + long + "}}}\nconsumer_groups: [{}]\n",
			"The name of the consumer group",
		},
		"an unknown entity": {"unknown:\n- name: " + long + "\n", ""},
		"a member": {
			"unknown:\n  ? " + longer + "\n  : 1\n",
			"a member whose name is longer than 1,000 bytes",
		},
		"an unknown list": {"? " + longer + "\n: [1, 2]\n", "a member whose name is longer than 1,000 bytes"},
		"aliases":         {"a: &a " + longer + "\nb: [" + strings.Repeat("*a,", 1000) + "]\n", "10 times larger"},
		"aliases as members": {
			"a: &a " + long + "\nb: [" + strings.Repeat("{*a : 1},", 9000) + "]\n",
			"10 times larger",
		},
		"a placeholder as list": {
			"? ${A:-" + longer + "}\n: [1, 2]\n", "a member whose name is longer than 1,000 bytes",
		},
		"aliases of a placeholder": {
			"a: &a '${A:-" + longer + "}'\nb: [" + strings.Repeat("*a,", 1000) + "]\n", "20 MB of text",
		},
		"placeholders with long values":   {"b: [" + strings.Repeat("'${LONG}',", 1000) + "]\n", "20 MB of text"},
		"a placeholder with a long value": {"b: '${LONG}'\n", ""},
		"aliases of little":               {"a: &a x\nb: [" + strings.Repeat("*a,", 10_000) + "]\n", ""},
		"aliases of all": {
			"a: &a {b: " + longer + "}\nc: [" + strings.Repeat("{<<: *a},", 1000) + "]\n",
			"10 times larger",
		},
		"defaults": {"_info: {defaults: {route: {paths: [" + longer + "]}}}\n" + services(2, "", ""), ""},
		"many defaults": {
			"_info: {defaults: {service: {x: " + longer + "}}}\n" + services(2000, "", ""),
			"too many members",
		},
		"defaults of a null": {
			"_info: {defaults: {service: {x: " + longer + "}}}\n" + services(2000, ", x: null", ""),
			"too many",
		},
		"a config for many": {
			"_plugin_configs: {c: {x: " + longer + "}}\n" + services(2000, "", ", plugins: [{name: a, _config: c}]"),
			"too many",
		},
		"a plugin of many": {services(3000, "", "") + "plugins: [" + header + "]\n", "more than 100 MB of text"},
		"an upstream of many": {
			services(3000, "", "") + "upstreams: [{name: a.example.com, x: " + longer + "}]\n",
			"more than 100 MB of text",
		},
		"routes of a service": {routes(""), ""},
		"routes with plugins": {routes(", plugins: [{name: cors}]"), "more than 100 MB of text"},
	} {
		_, err := kongfile.Read([]byte(minimal+tt.text), map[string]string{"LONG": longer})
		limit, refused := errors.AsType[*configfile.Error](err)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" &&
			(!refused || limit.Code != configfile.CodeLimit || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

// The name of a credential has only the beginning of a long name of its consumer.
func TestEntity_longNames(t *testing.T) {
	name := strings.Repeat("é", 200)
	f, err := kongfile.Read([]byte(minimal+"consumers:\n- username: "+name+"\n  keyauth_credentials: [{key: a}]\n"+
		"  plugins: [{name: cors}]\nunknown:\n- name: "+name+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	short := strings.Repeat("é", 50) + "…"
	for _, tt := range []struct {
		kind kongfile.Type
		want string
	}{
		{kongfile.Consumer, name},
		{kongfile.KeyAuth, "credential of " + short},
		{kongfile.Plugin, "cors on consumer " + short},
		{"unknown", short},
	} {
		if got := f.Of(tt.kind)[0].Name(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.kind, got, tt.want)
		}
	}
}

// Each unknown member at the top of a file has a title in the plan, so there can't be many of them in an import.
func TestFiles_unknownMembers(t *testing.T) {
	members := func(name string, from, n int) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, "%s%d: [1, 2]\n", name, from+i)
		}
		return minimal + out.String()
	}
	long := strings.Repeat("k", 900)
	for name, tt := range map[string]struct {
		files []string
		want  string // of the error
	}{
		"100":             {[]string{members("k", 0, 100)}, ""},
		"101":             {[]string{members("k", 0, 101)}, `The first one is "k0" on line `},
		"settings":        {[]string{members("_k", 0, 101)}, `The first one is "_k0" on line `},
		"in several":      {[]string{members("k", 0, 60), members("_k", 0, 41)}, `b.yaml, line `},
		"the same again":  {[]string{members("k", 0, 60), members("k", 0, 100)}, ""},
		"others again":    {[]string{members("k", 0, 60), members("k", 59, 42)}, ` of a.yaml.`},
		"long names":      {[]string{members(long, 0, 101)}, `The first one is "` + long[:64] + `" on line `},
		"known and empty": {[]string{members("k", 0, 100) + "services: []\nvaults: []\n_comment: x\nx: null\n"}, ""},
	} {
		var documents []*configfile.Document
		for i, text := range tt.files {
			d, err := configfile.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if d.Name = ""; len(tt.files) > 1 {
				d.Name = string(rune('a'+i)) + ".yaml"
			}
			documents = append(documents, d)
		}
		_, err := kongfile.Files(documents, nil)
		limit, refused := errors.AsType[*configfile.Error](err)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (!refused || limit.Code != configfile.CodeLimit ||
			!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "more than 100 unknown "+
			"top-level members")):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func placeholders(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "a%d: ${P%d}\n", i, i)
	}
	return out.String()
}

// A refusal takes a second at most.
func BenchmarkRead_tooManyPlugins(b *testing.B) {
	plugin := map[string]any{"name": "rate-limiting", "config": map[string]any{"minute": 5, "policy": "local"}}
	plugins := make([]any, 100_000)
	for i := range plugins {
		plugins[i] = plugin
	}
	text, err := json.Marshal(map[string]any{"_format_version": "3.0", "plugins": plugins})
	if err != nil {
		b.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), "},{", "},\n{"))
	for b.Loop() {
		if _, err := kongfile.Read(text, nil); err == nil {
			b.Fatal("the file is read")
		}
	}
}
