package projects

import (
	"strings"
	"testing"

	"postern/core/contract"
)

// TestDecodeFile checks that nothing in a file of rules or transforms is left out.
func TestDecodeFile(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`{"mode":"shadow"}` + "\n":        "",
		`{"mode":"shadow","modus":"off"}`: "modus",
		`{"mode":"shadow"}{"mode":"off"}`: "after the JSON document",
		`{"mode":"shadow"} x`:             "after the JSON document",
	} {
		err := decodeFile([]byte(text), &contract.SavedRules{})
		if (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
