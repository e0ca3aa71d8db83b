package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/cmd/internal/terminal"
)

// TestRun_emptyValues checks that an empty value, such as that of an unset variable in a script, creates nothing
// without a requirement or limit. It is refused before anything is sent, unless it clears a setting.
func TestRun_emptyValues(t *testing.T) {
	t.Parallel()
	for line, refused := range map[string]string{
		"rules add shop 1.0.0 GET /open --scope ''":         "--scope",
		"rules add shop 1.0.0 GET /open --scope a --scope ": "--scope",
		"rules add shop 1.0.0 GET /open --group ''":         "--group",
		"rules add shop 1.0.0 GET /open --owner ''":         "--owner",
		"rules add shop 1.0.0 GET /open --role ''":          "--role",
		"rules add shop 1.0.0 GET /open --mode ''":          "--mode",
		"rules set shop 1.0.0 --default ''":                 "--default",
		"rules set shop 1.0.0 --file ''":                    "--file",
		"webhooks create https://example.com --event ''":    "--event",
		"keys create shop --owner a --allowed-cidrs ''":     "--allowed-cidrs",
		"keys create shop --owner a --environment ''":       "--environment",
		"keys create shop --owner ''":                       "--owner",
		"keys list shop --owner ''":                         "--owner",
		"key-types create shop full --scopes ''":            "--scopes",
		"relations remove shop --user ''":                   "--user",
		"versions create shop 2 --environment ''":           "--environment",
		"versions update shop 2 --introspection ''":         "--introspection",
		"providers update prv_1 --client-secret-file ''":    "--client-secret-file",
		"create https://example.com --methods ''":           "--methods",
		"create https://example.com --login ''":             "--login",
		"create https://example.com --retry-on ''":          "--retry-on",
		"backup --recipient ''":                             "--recipient",
		"verify shop.zip --sha256 ''":                       "--sha256",
		"import shop.zip --signed-by ''":                    "--signed-by",
		"tokens create ci --scopes ''":                      "--scopes",
		"projects list --server ''":                         "--server",

		"keys update key_1 --allowed-cidrs ''":                   "",
		"webhooks update whk_1 --description ''":                 "",
		"app-clients update app_1 --redirect-uri ''":             "",
		"api-scopes set shop --audience ''":                      "",
		"cors set shop --headers ''":                             "",
		"environments update shop 2 prod --ca ''":                "",
		"create https://example.com --ca ''":                     "",
		"create https://example.com --server-name ''":            "",
		"environments create shop 2 prod x --check-path ''":      "",
		"requests list shop --cursor ''":                         "",
		"audit verify --database-url ''":                         "",
		"domains update shop dom_1 --method '' --path-prefix ''": "",
		"versions update shop 1.0.0 --methods '' --mode off":     "",
	} {
		var args []string
		for word := range strings.SplitSeq(line, " ") {
			args = append(args, strings.Trim(word, "'"))
		}
		var printed strings.Builder
		root := newRoot(terminal.Terminal{Out: io.Discard, Err: &printed, In: strings.NewReader("")})
		command, rest, err := root.Find(args)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		command.RunE = func(*cobra.Command, []string) error { return nil } // the flags are read before
		root.SetArgs(args)
		code := terminal.Execute(t.Context(), root, args, terminal.Terminal{Out: io.Discard, Err: &printed})
		want := "postern: " + refused + " can't be empty: give it a value, or leave the flag out\n"
		switch {
		case refused == "" && (code != 0 || printed.Len() > 0):
			t.Errorf("%s (%q): exit code %d and %q, want neither", line, rest, code, printed.String())
		case refused != "" && (code != 2 || !strings.HasPrefix(printed.String(), want)):
			t.Errorf("%s: exit code %d and %q, want 2 and %q", line, code, printed.String(), want)
		}
	}
}

// TestRefuseEmpty_creating checks that the flags of commands that create something refuse an empty value, unless their
// help says what it means.
func TestRefuseEmpty_creating(t *testing.T) {
	t.Parallel()
	creating := []string{"create", "add", "import", "invite", "rotate", "enable", "attach"}
	checked := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if !slices.Contains(creating, c.Name()) {
			return
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			says := strings.Contains(f.Usage, `""`) || strings.Contains(f.Usage, "If empty,") ||
				strings.Contains(f.Usage, "(POSTERN_") // the server's settings
			if checked++; !says && f.Value.Set("") == nil {
				t.Errorf("%s --%s takes an empty value, but its help doesn't say why", c.CommandPath(), f.Name)
			}
		})
	}
	walk(newRoot(terminal.Terminal{}))
	if checked < 100 {
		t.Errorf("%d flags were checked", checked)
	}
}
