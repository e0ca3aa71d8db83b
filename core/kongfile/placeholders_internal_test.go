package kongfile

import (
	"encoding/json"
	"strings"
	"testing"
)

// Only lines without a placeholder aren't searched for them.
func TestMayHavePlaceholder(t *testing.T) {
	for text, want := range map[string]bool{
		`key: ${{ env "DECK_KEY" }}`:            true,
		"key: {{ .Values.key }}":                true,
		"key: ${KEY}":                           true,
		"key: $KEY":                             true,
		"key: {vault://env/key}":                true,
		"key: __API_KEY__":                      true,
		"key: <your-key>":                       true,
		"key: <YOUR KEY>":                       true,
		"key: REPLACE_ME":                       true,
		"key: replaceme":                        true,
		"key: Change-Me_now":                    true,
		"key: cHaNgE_mE":                        true,
		`{"name":"rate-limiting","config":{}}`:  false,
		"username: tom_m, volume: 1, my-me: no": false,
		"_format_version: x":                    false,
	} {
		if matches := forms.MatchString(text); matches != want {
			t.Errorf("%s: matches %t", text, matches)
		}
		if got := mayHavePlaceholder([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
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
		if _, err := Read(text, nil); err == nil {
			b.Fatal("the file is read")
		}
	}
}
