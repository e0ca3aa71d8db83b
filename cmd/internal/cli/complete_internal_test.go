package cli

import (
	"slices"
	"testing"
)

func TestBeginning(t *testing.T) {
	keys := []string{"key_1\tacme", "key_2\tbilling", "acme-app"}
	for typed, want := range map[string][]string{
		"":      keys,
		"key_2": {"key_2\tbilling"},
		"acme":  {"acme-app"}, // and not the keys of acme
		"other": {},
	} {
		if got := beginning(slices.Clone(keys), typed); !slices.Equal(got, want) {
			t.Errorf("after %q: got %q, want %q", typed, got, want)
		}
	}
}

func TestFlagsOfNames_haveLists(t *testing.T) {
	for flag, kind := range flagsOfNames {
		if collectionNamed(kind.member) == "" {
			t.Errorf("%s: the API has no list of what is called %s", flag, kind.member)
		}
	}
}
