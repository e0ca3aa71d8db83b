package keys

import (
	"bytes"
	"encoding/json"
	"slices"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/views/projects"
	"postern/views/ui"
)

// The members of a key that forms set by their names.
var (
	texts   = []string{"description"} // texts about the key
	created = slices.Concat(texts,
		[]string{"metadata", "owner", "key_type", "tenant", "product", "environment", "allowed_cidrs"})
	changed = slices.Concat(texts, []string{"metadata", "allowed_cidrs"})
)

// otherFields are fields of both forms that are not as members are.
var otherFields = []string{"expires_at", "limits_of", "limits_*"}

// metadataText is a key's metadata as its form shows it, with a line for each member; "" for none.
func metadataText(m contract.Metadata) string {
	var out bytes.Buffer
	if m == "" || json.Indent(&out, []byte(m), "", "  ") != nil {
		return string(m)
	}
	return out.String()
}

// writtenFacts are the texts and the metadata that a key has.
func writtenFacts(k contract.Key) (facts []ui.Fact) {
	for i, text := range page.TextsOf(k, texts...) {
		if text != "" {
			facts = append(facts, ui.Fact{Label: page.FieldLabel(texts[i]), Value: text})
		}
	}
	if k.Metadata != "" {
		facts = append(facts, ui.Fact{Label: page.FieldLabel("metadata"), Value: string(k.Metadata), Mono: true})
	}
	return facts
}

// compareWritten adds the texts to the page of a conflict.
func compareWritten(m *projects.Conflict, saved, typed any) {
	theirs, yours := page.TextsOf(saved, texts...), page.TextsOf(typed, texts...)
	for i, name := range texts {
		m.Rows = append(m.Rows, projects.Difference{
			Label: page.FieldLabel(name), Theirs: page.TextOrNone(theirs[i]), Yours: page.TextOrNone(yours[i]),
		})
		m.Hidden = append(m.Hidden, projects.Pair{Name: name, Value: yours[i]})
	}
}
