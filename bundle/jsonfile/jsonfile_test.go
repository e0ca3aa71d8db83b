package jsonfile_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"postern/bundle/jsonfile"
	"postern/testkit/sample"
)

func TestEncode_jsonAndYAML(t *testing.T) {
	all := sample.Nasty + "\u200b\u2066\u00ad\u061c\U0001f600é/<>&"
	line, err := jsonfile.Encode(map[string]string{all: all})
	if err != nil {
		t.Fatal(err)
	}
	var asJSON, asYAML map[string]string
	if err := json.Unmarshal(line, &asJSON); err != nil {
		t.Fatalf("as JSON: %v", err)
	}
	if err := yaml.Unmarshal(line, &asYAML); err != nil {
		t.Fatalf("as YAML: %v", err)
	}
	want := map[string]string{strings.ToValidUTF8(all, "\ufffd"): strings.ToValidUTF8(all, "\ufffd")}
	if diff := cmp.Diff(want, asJSON); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, asYAML); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
	for _, r := range string(line) {
		if r < ' ' || jsonfile.Unseen(r) {
			t.Errorf("%U isn't escaped", r)
		}
	}
	if !utf8.Valid(line) || strings.Contains(string(line), `\ud83d`) {
		t.Errorf("%s: not UTF-8, or a surrogate pair", line)
	}
}
