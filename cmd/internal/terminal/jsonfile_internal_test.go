package terminal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

type jsonRule struct {
	Path    string   `json:"path"`
	Scopes  []string `json:"scopes,omitempty"`
	Tries   *int     `json:"tries"`
	Expires jsonAny  `json:"expires"`
}

type jsonAny = json.RawMessage

type jsonNamed struct {
	Mode string `json:"mode"`
}

type jsonRules struct {
	jsonNamed
	Default bool              `json:"default"`
	List    []jsonRule        `json:"rules"`
	Names   map[string]string `json:"names"`
	ETag    string            `json:"etag"`
}

// TestDecodeJSON checks that errors say where a text is wrong and what is expected there, in the words of JSON.
func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	const members = "Its members are default, etag, mode, names and rules"
	for text, want := range map[string]string{
		`{"mode": "shadow", "rules": [{"path": "/a", "scopes": [], "tries": null, "expires": 1}]}` + "\n": "",
		`{"names": {"a": "b"}}`: "",

		``:                                 "1:1 the text is empty, but must be a JSON object",
		" \n":                              "1:1 the text is empty, but must be a JSON object",
		`{}`:                               "1:1 the object has no members that can be changed",
		`{"etag": "1"}`:                    "1:1 the object has no members that can be changed",
		`null`:                             "1:1 the text must be an object, not null",
		`[]`:                               "1:1 the text must be an object, not a list",
		` "x"`:                             "1:2 the text must be an object, not a string",
		`hello`:                            "1:1 this isn't valid JSON. Check its commas, quotes and brackets",
		"{\n\"mode\": \"é\",,}":            "2:13 this isn't valid JSON. Check its commas, quotes and brackets",
		`{"mode": "off"`:                   "1:15 the JSON isn't complete. Check its quotes and brackets",
		`{"mode": "off"} {"mode": "off"}`:  "1:17 there is more text after the JSON value. Remove it",
		`{"mode": "off"} x`:                "1:17 there is more text after the JSON value. Remove it",
		`{"modus": "off"}`:                 `1:2 unknown member "modus". ` + members,
		`{"Mode": "off"}`:                  `1:2 unknown member "Mode". ` + members,
		`{"mode": "off", "mode": "x"}`:     `1:17 the member "mode" appears twice`,
		`{"rules": {}}`:                    "1:11 rules must be a list, not an object",
		`{"rules": null}`:                  "1:11 rules must be a list, not null",
		`{"mode": 1.5}`:                    "1:10 mode must be a string, not 1.5",
		`{"default": "yes"}`:               "1:13 default must be true or false, not a string",
		"{\n  \"rules\": [{\n    \"a\": 1": "3:11 the JSON isn't complete. Check its quotes and brackets",
		`{"rules": [{}, {"scopes": "a"}]}`: "1:27 rules[1].scopes must be a list, not a string",
		`{"rules": [{"scopes": [1]}]}`:     "1:24 rules[0].scopes[0] must be a string, not 1",
		`{"rules": [{"tries": 1.5}]}`:      "1:22 rules[0].tries must be a whole number, not 1.5",
		`{"rules": [{"tries": true}]}`:     "1:22 rules[0].tries must be a whole number, not true",
		`{"rules": [[]]}`:                  "1:12 rules[0] must be an object, not a list",
		`{"names": {"a": 1}}`:              "1:17 names.a must be a string, not 1",
		"{\"rules\": [{\n\t\"scope\": \"a\"}]}": `2:2 unknown member "scope" in rules[0]. ` +
			"Its members are expires, path, scopes and tries",
	} {
		got := ""
		var into jsonRules
		if wrong := DecodeJSON([]byte(text), &into); wrong != nil {
			got = fmt.Sprintf("%d:%d %s", wrong.Line, wrong.Column, wrong.Detail)
		}
		if got != want {
			t.Errorf("%s\n  got  %s\n  want %s", text, got, want)
		}
	}
}

// TestDecodeJSON_keepsOthers checks that a member replaces that of the struct as a whole, and that the others stay.
func TestDecodeJSON_keepsOthers(t *testing.T) {
	t.Parallel()
	into := jsonRules{jsonNamed: jsonNamed{"off"}, Default: true, List: []jsonRule{{Path: "/a", Scopes: []string{"b"}}},
		Names: map[string]string{"a": "b"}}
	if wrong := DecodeJSON([]byte(`{"mode": "shadow", "rules": [{"path": "/c"}], "names": {}}`), &into); wrong != nil {
		t.Fatal(wrong)
	}
	want := jsonRules{jsonNamed: jsonNamed{"shadow"}, Default: true, List: []jsonRule{{Path: "/c"}},
		Names: map[string]string{}}
	if !reflect.DeepEqual(into, want) {
		t.Errorf("got %+v, want %+v", into, want)
	}
}

// TestReadJSON checks that errors name the flag and the file.
func TestReadJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "rules.json")
	if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	const list = "line 1, column 1: the text must be an object, not a list"
	for path, want := range map[string]string{
		file:       "--file: " + file + ", " + list,
		"-":        "--file: standard input, " + list,
		dir + "/a": "--file: cannot read " + dir + "/a: no such file or directory",
		dir:        "--file: " + dir + " is a directory: specify a file in it",
	} {
		if err := ReadJSON(strings.NewReader("[]"), "file", path, &jsonRules{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
