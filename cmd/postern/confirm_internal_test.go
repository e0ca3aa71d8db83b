package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// TestDelete_asks checks that all commands that permanently delete something ask first: they have --yes, and without a
// terminal they send nothing unless --yes is given. Commands that first read what else is deleted are in the scripts.
func TestDelete_asks(t *testing.T) {
	t.Parallel()
	reads := []string{"environment", "product", "project", "team", "tenant", "version"}
	easy := []string{"account delete", "imports delete", "signup approvals delete"} // or asks in another way
	for _, described := range contract.Operations() {
		op := described.Describe()
		words, arguments := op.Words()
		command := strings.Join(words, " ")
		if op.Deletes == "" {
			deletes := op.Method == http.MethodDelete && strings.HasSuffix(command, " delete")
			if deletes && !slices.Contains(easy, command) {
				t.Errorf("%s: set Deletes, or add the command to easy", op.ID)
			}
			continue
		}
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			found, _, err := newRoot(terminal.Terminal{}).Find(words)
			if err != nil {
				t.Fatal(err)
			}
			if found.Flag("yes") == nil || !strings.HasSuffix(found.UseLine(), "[--yes] [flags]") ||
				!strings.Contains(found.Long, "asks for confirmation. Without a terminal, use --yes.") {
				t.Errorf("help doesn't say that the command asks:\n%s\n%s", found.UseLine(), found.Long)
			}
			if slices.Contains(reads, op.Deletes) {
				return
			}
			var said strings.Builder
			code := run(t.Context(), slices.Concat(words, arguments), terminal.Terminal{
				In: strings.NewReader("y\n"), Out: &said, Err: &said,
				Environ: []string{
					"POSTERN_CONFIG_DIR=" + t.TempDir(), "POSTERN_SERVER=http://127.0.0.1:1", "POSTERN_TOKEN=x",
				},
			})
			want := "postern: can't ask for confirmation without a terminal: use --yes to delete the " + op.Deletes
			if code != 2 || !strings.HasPrefix(said.String(), want+"\n") {
				t.Errorf("exit code %d, want 2 and %q:\n%s", code, want, said.String())
			}
		})
	}
}
