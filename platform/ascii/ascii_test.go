package ascii_test

import (
	"testing"

	"postern/platform/ascii"
)

func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"Kate@Example.COM":      "kate@example.com",
		"\u212Aate@example.com": "\u212Aate@example.com",
		"\u0130ana@example.com": "\u0130ana@example.com",
		"J\u00D6RG@example.com": "j\u00D6rg@example.com",
		"":                      "",
	} {
		if got := ascii.Lower(in); got != want {
			t.Errorf("Lower(%q) = %q, want %q", in, got, want)
		}
	}
}
