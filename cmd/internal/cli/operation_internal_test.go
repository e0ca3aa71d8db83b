package cli

import (
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
)

// TestTexts_current finds pairs that replace nothing any more, because the contract's words have changed.
func TestTexts_current(t *testing.T) {
	var docs []string
	for _, op := range contract.Operations() {
		docs = append(docs, op.Describe().Doc)
	}
	for pair := range slices.Chunk(commandTexts, 2) {
		if !slices.ContainsFunc(docs, func(text string) bool { return strings.Contains(text, pair[0]) }) {
			t.Errorf("no text contains %q, which would be %q in help", pair[0], pair[1])
		}
	}
}
