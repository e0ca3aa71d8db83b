package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"postern/cmd/internal/terminal"
	"postern/core/movein"
)

const kongFile = `_format_version: "3.0"
services:
- name: orders
  url: http://${UPSTREAM}:8080
  routes:
  - {name: orders, paths: [/orders]}
  - {name: admin, paths: [/admin], plugins: [{name: oauth2}]}
plugins: [{name: key-auth}]
consumers: [{username: web, keyauth_credentials: [{key: 4d1c9a2b7e8f4a6db1c2d3e4f5a69788}]}]
`

// importing runs the command with a file, and returns what it printed.
func importing(t *testing.T, text string, environ []string, args ...string) (string, error) {
	t.Helper()
	return importingAll(t, []string{text}, environ, args...)
}

// importingAll runs the command with files called 0.yaml, 1.yaml and so on.
func importingAll(t *testing.T, texts, environ []string, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, text := range texts {
		names = append(names, filepath.Join(dir, fmt.Sprintf("%d.yaml", i)))
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return run(t, environ, slices.Concat(names, args)...)
}

// run runs the command, and returns what it printed.
func run(t *testing.T, environ []string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := newImport(terminal.Terminal{In: strings.NewReader(""), Out: &out, Err: &out, Environ: environ})
	command.SetArgs(args)
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetOut(&out)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestImport_kong(t *testing.T) {
	out, err := importing(t, kongFile, []string{"UPSTREAM=orders.internal"}, "--dry-run", "--env", "UPSTREAM", "--host",
		"API.example.com", "--name", "staging")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Plan for 7 entities (kong 3.0): ",
		"the product staging and the tenant staging", "project orders", "http://orders.internal:8080",
		"api.example.com/orders", "version closed, refuses every call",
		"--open admin", "Targets whose private addresses may need to be added", "Nothing was changed.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q isn't in\n%s", want, out)
		}
	}
	if strings.Contains(out, "4d1c9a2b") {
		t.Error("the plan has a key")
	}
}

// The texts of a plan name flags, not members of the API.
func TestSettingFlags(t *testing.T) {
	for _, one := range movein.Settings() {
		if settingFlags[one] == "" {
			t.Errorf("%s has no flag", one)
		}
	}
	out, err := importing(t, kongFile, nil, "--dry-run")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--set NAME=VALUE or --env NAME", `See the reasons under "Closed".`} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q isn't in\n%s", want, out)
		}
	}
	if strings.Contains(out, "`") {
		t.Errorf("a setting without a flag is in\n%s", out)
	}
}

// Each item has its line, and its title without codes.
func TestImport_items(t *testing.T) {
	text := strings.Replace(kongFile, "{username: web,", "{tags: [a]}, {username: web,", 1)
	out, err := importing(t, text, nil, "--dry-run")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Items: orders (line 3)", "consumer 1 (line 9)", "credential of web (line 9)",
		"Routes (2), skipped\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q isn't in\n%s", want, out)
		}
	}
	if strings.Contains(out, "kong.route") || strings.Contains(out, "/consumers/0") ||
		strings.Contains(out, "\n\n\n") {
		t.Errorf("it has codes, pointers or empty lines:\n%s", out)
	}
	out, err = importing(t, "_format_version: '3.0'\n", nil, "--dry-run")
	if err != nil || strings.Contains(out, "\n\n\n") {
		t.Errorf("an empty plan: %v\n%s", err, out)
	}
}

func TestImport_fileErrors(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a duplicate": {"_format_version: '3.0'\nroutes: []\nroutes: []\n", "cannot import 0.yaml: Line 3: "},
		"a wrong value": {
			"_format_version: '3.0'\nservices: [{host: a, port: b}]\n", "cannot import 0.yaml: Line 2: The port",
		},
		"another version":    {"_format_version: '9'\n", "cannot import 0.yaml: Line 1: This _format_version"},
		"a zip that is torn": {"PK\x03\x04", "0.yaml isn't a complete zip file"},
	} {
		if _, err := importing(t, tt.text, nil, "--dry-run"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := run(t, nil, "", "--dry-run"); err == nil || err.Error() != "a file name is empty" {
		t.Errorf("an empty name: %v", err)
	}
}

func TestImport_kongJSON(t *testing.T) {
	out, err := importing(t, kongFile, nil, "--dry-run", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var plan movein.Plan
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		t.Fatal(err)
	}
	if len(plan.Items) != 7 || len(plan.ByHand.Placeholders) != 1 || plan.ByHand.Placeholders[0].Name != "UPSTREAM" {
		t.Errorf("%+v", plan)
	}
}

func TestImport_kongRefused(t *testing.T) {
	dry := func(args ...string) []string { return append([]string{"--dry-run"}, args...) }
	for name, tt := range map[string]struct {
		text string
		args []string
		want string
	}{
		"without a terminal": {kongFile, nil, "can't ask for confirmation without a terminal: use --yes to import"},
		"unknown placeholder": {kongFile, dry("--set", "OTHER=1"), `the placeholder "OTHER". Their placeholders: ` +
			`UPSTREAM`},
		"unset variable":      {kongFile, dry("--env", "UPSTREAM"), "isn't set"},
		"set without a value": {kongFile, dry("--set", "UPSTREAM"), "--set must be NAME=VALUE"},
		"unknown route": {kongFile, dry("--open", "nothing"), "--open nothing: The files don't contain a closed " +
			"route"},
		"unknown target": {kongFile, dry("--trust", "nope"), "--trust nope: The files don't contain an https " +
			"target"},
		"no host name":        {kongFile, dry("--host", "a b"), `--host "a b": Use only letters`},
		"a name":              {kongFile, dry("--name", "x"), "--name must have 2 to 40 lowercase letters"},
		"a flag of zips":      {kongFile, dry("--sha256", "x"), "for exported zips"},
		"a duplicate":         {"_format_version: '3.0'\nroutes: []\nroutes: []\n", dry(), "Line 3: "},
		"a flag of gateways":  {"PK\x03\x04", dry("--host", "a.example.com"), "this is a zip"},
		"an OpenAPI document": {"openapi: 3.1.0\n", dry(), "postern create --openapi FILE"},
		"an export of AWS without targets": {
			`{"openapi":"3.0.1","paths":{"/a":{"get":{"x-amazon-apigateway-integration":{}}}}}`, dry(),
			"Export the API again: aws apigateway get-export",
		},
		"another file":  {"version: 3\n", dry(), "isn't a supported file"},
		"an empty file": {"", dry(), "with the member _format_version"},
	} {
		if _, err := importing(t, tt.text, nil, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const (
	services = "_format_version: '3.0'\nservices: [{name: orders, url: 'http://${UPSTREAM}:1'}]\n"
	routes   = "_format_version: '3.0'\nroutes:\n- {name: orders, service: orders, paths: [/], headers: {a: [b]}}\n"
)

func TestImport_several(t *testing.T) {
	out, err := importingAll(t, []string{services, routes}, nil, "--dry-run")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Plan for 2 entities (kong 3.0): ", "route orders (line 3 of 1.yaml): ", "UPSTREAM\n    (line 2 of 0.yaml)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q isn't in\n%s", want, out)
		}
	}
}

func TestImport_severalRefused(t *testing.T) {
	large := services + strings.Repeat("#", 11<<20)
	for name, tt := range map[string]struct {
		texts []string
		want  string
	}{
		"a zip":        {[]string{services, "PK\x03\x04"}, "1.yaml is a zip: import it separately"},
		"another file": {[]string{services, "version: 3\n"}, "1.yaml isn't a supported file"},
		"a duplicate":  {[]string{services, services}, "1.yaml, line 2: "},
		"too many":     {slices.Repeat([]string{services}, 51), "more than 50 files"},
		"too large":    {[]string{large, large}, "larger than 20 MB"},
	} {
		_, err := importingAll(t, tt.texts, nil, "--dry-run")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	const directory = "is a directory: specify a file in it"
	if _, err := run(t, nil, t.TempDir(), "--dry-run"); err == nil || !strings.Contains(err.Error(), directory) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := run(t, nil, "--dry-run"); err == nil || err.Error() != "FILE is missing" {
		t.Errorf("no file: %v", err)
	}
}
