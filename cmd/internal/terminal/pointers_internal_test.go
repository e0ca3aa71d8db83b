package terminal

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestFlagsOnly(t *testing.T) {
	t.Parallel()
	c := &cobra.Command{}
	c.Flags().Bool("allow-weak", false, "")
	for text, want := range map[string]string{
		"import with allow_weak (--allow-weak).": "import with --allow-weak.",
		"Set it as ca (--ca).":                   "Set it as ca (--ca).",
		"Use a key (--allow-weak is better).":    "Use a key (--allow-weak is better).",
	} {
		if got := FlagsOnly(c, text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNameOf(t *testing.T) {
	c := &cobra.Command{}
	for pointer, name := range map[string]string{
		"/target": "URL", "/requests_auth": "--auth", "/requests_auth/jwt": "--token-issuer", "/rules/*/path": "PATH",
	} {
		NamePointer(c, pointer, name)
	}
	for pointer, want := range map[string]string{
		"/target":                              "URL",
		"/requests_auth/mode":                  "--auth",
		"/requests_auth/jwt/allowed_pairs/0":   "--token-issuer",
		"/rules/12/path":                       "PATH",
		"/rules/12":                            "rules[12]",
		"/request/add/headers/0":               "request.add.headers[0]",
		"/targets":                             "targets",
		"/paths/~1orders~1{id}/get/parameters": "paths./orders/{id}.get.parameters",
	} {
		if got := nameOf(c, pointer); got != want {
			t.Errorf("%s is called %q, want %q", pointer, got, want)
		}
	}
}
