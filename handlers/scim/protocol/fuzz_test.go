package protocol_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"postern/core/filelimits"
	"postern/handlers/scim/protocol"
)

// FuzzPaths counts independently: a path or filter that is accepted is within the limits, and a refusal is one of the
// standard's.
func FuzzPaths(f *testing.F) {
	for _, text := range []string{
		`emails[type eq "work" and (primary eq true or not (value sw "a"))].value`,
		`userName eq "x" and active eq true`,
		userURN + `:name.givenName`, strings.Repeat("(", 11), strings.Repeat(`value eq "a" or `, 11) + `value pr`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		body := []byte(`{"Operations":[{"op":"remove","path":` + string(path) + `}]}`)
		members := func() ([]protocol.Reference, error) { return []protocol.Reference{{Value: "usr_a"}}, nil }
		_, filter := protocol.ParseFilter(text)
		_, user := protocol.ParseUserPatch(body, "ana@example.com")
		_, group := protocol.ParseGroupPatch(body, members)
		for _, err := range []error{filter, user, group} {
			refusal, ok := errors.AsType[*protocol.Error](err)
			if err != nil && (!ok || refusal.Status != 400 || refusal.Type == "") {
				t.Errorf("%q: %v", text, err)
			}
			if err != nil {
				continue
			}
			bare := unquoted(text)
			operators := 0
			for _, word := range strings.FieldsFunc(strings.ToLower(bare), func(r rune) bool {
				return strings.ContainsRune(" ()[]", r)
			}) {
				if slices.Contains([]string{"eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le", "pr"}, word) {
					operators++
				}
			}
			if int64(operators) > 3*filelimits.SCIMFilterTerms.Most || // attributes can have such names
				int64(deepest(bare)) > filelimits.SCIMFilterNesting.Most {
				t.Errorf("%q is accepted with %d comparisons in %d parentheses", text, operators, deepest(bare))
			}
		}
	})
}

// unquoted returns a text without what is in double quotes.
func unquoted(text string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func deepest(text string) (most int) {
	depth := 0
	for _, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		most = max(most, depth)
	}
	return most
}
