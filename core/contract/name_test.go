package contract_test

import (
	"strings"
	"testing"

	"postern/core/contract"
)

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"My Shop API":                  "my-shop-api",
		"my-shop-api":                  "my-shop-api",
		"shop--api":                    "shop--api",
		"Shop -- API":                  "shop-api",
		" Shop, 2nd edition! ":         "shop-2nd-edition",
		"2nd shop":                     "nd-shop",
		"Bücher & Straße":              "bucher-strasse",
		"snake_case.name":              "snake-case-name",
		strings.Repeat("a", 39) + " b": strings.Repeat("a", 39),
		strings.Repeat("ab", 30):       strings.Repeat("ab", 20),
		"":                             "",
		"42":                           "42",
		"お店":                           "お店",
	} {
		if got := contract.Slug(text); got != want {
			t.Errorf("Slug(%q) = %q, want %q", text, got, want)
		}
	}
}
