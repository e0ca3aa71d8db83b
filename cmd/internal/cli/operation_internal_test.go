package cli

import (
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
)

// TestTexts_current finds pairs that replace nothing any more, because the contract's words have changed.
func TestTexts_current(t *testing.T) {
	var docs, descriptions []string
	for _, op := range contract.Operations() {
		docs = append(docs, op.Describe().Doc)
		for _, m := range op.Members() {
			descriptions = append(descriptions, m.Doc)
		}
	}
	for name, tt := range map[string]struct{ pairs, texts []string }{
		"operations": {commandTexts, docs},
		"members":    {flagTexts, descriptions},
	} {
		for pair := range slices.Chunk(tt.pairs, 2) {
			if !slices.ContainsFunc(tt.texts, func(text string) bool { return strings.Contains(text, pair[0]) }) {
				t.Errorf("%s: no text contains %q, which would be %q in help", name, pair[0], pair[1])
			}
		}
	}
}
