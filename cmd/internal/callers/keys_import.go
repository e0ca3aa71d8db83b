package callers

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// shownErrors is how many errors of an import are printed. --json has more.
const shownErrors = 20

func newKeysImport(t terminal.Terminal) *cobra.Command {
	var in contract.KeyImport
	command := cli.RequestCommand(t, cli.OfProject, contract.ImportKeys.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			var all []contract.KeysImported
			for _, name := range c.Flags().Args()[1:] {
				done, err := importKeys(c, t, api, in, name)
				if err != nil {
					return fmt.Errorf("%s: %w", terminal.Printable(name), err)
				}
				if all = append(all, done); !terminal.WantsJSON(c) {
					printKeysImported(t, name, in.DryRun, done)
				}
			}
			if terminal.WantsJSON(c) && len(all) == 1 {
				return terminal.PrintJSON(t.Out, all[0])
			} else if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, all)
			}
			return nil
		})
	command.Use = "import PROJECT FILE…"
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return fmt.Errorf("%s is missing", []string{"PROJECT", "FILE"}[len(args)])
		}
		return nil
	}
	command.ValidArgsFunction = nil // the others are files
	terminal.AddJSONFlag(command)
	return command
}

func importKeys(
	c *cobra.Command, t terminal.Terminal, api *client.Client, in contract.KeyImport, name string,
) (done contract.KeysImported, err error) {
	file, err := os.Open(name)
	if err != nil {
		return done, fmt.Errorf("cannot read the file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return done, fmt.Errorf("cannot read the file: %w", err)
	}
	var sent terminal.Counter
	watched := api.Watched(func() func() {
		return t.WaitingFor(func() string {
			return "Importing " + terminal.Printable(info.Name()) + ": " + sent.Of(info.Size())
		})
	})
	return client.Upload(c.Context(), watched, contract.ImportKeys, in, sent.ReaderAt(file), info.Size())
}

func printKeysImported(t terminal.Terminal, name string, dryRun bool, done contract.KeysImported) {
	will := ""
	if dryRun {
		will = " (dry run: nothing was changed)"
	}
	fmt.Fprintf(t.Out, "%s: %d created, %d updated, %d unchanged, %d refused%s\n", terminal.Printable(name),
		done.Created, done.Updated, done.Unchanged, done.Refused, will)
	same := sameErrors(done.Errors)
	for i, one := range same {
		if i == shownErrors {
			fmt.Fprintf(t.Out, "  Use --json to see more errors.\n")
			break
		}
		at := strings.TrimPrefix(one.first.Pointer, "/")
		if at != "" {
			at = ", " + terminal.Printable(at)
		}
		rows := "row"
		if one.rows > 1 {
			rows = fmt.Sprintf("%d rows from row", one.rows)
		}
		fmt.Fprintf(t.Out, "  %s %d%s: %s (%s)\n", rows, one.first.Row, at, terminal.Printable(one.first.Detail),
			one.first.Code)
	}
	if more := done.Refused - refusedRows(done.Errors); more > 0 {
		fmt.Fprintf(t.Out, "  %d more rows were refused, whose errors aren't listed.\n", more)
	}
	for _, one := range done.Notes {
		fmt.Fprintf(t.Out, "  note, %d rows from row %d: %s\n", one.Rows, one.Row, terminal.Printable(one.Detail))
	}
}

// errorOfRows is an error that several rows have.
type errorOfRows struct {
	first contract.KeyImportError
	rows  int
}

// sameErrors puts equal errors of rows together, by their first rows.
func sameErrors(list []contract.KeyImportError) (out []errorOfRows) {
	places := map[contract.KeyImportError]int{}
	for _, one := range list {
		is := one
		is.Row = 0
		at, known := places[is]
		if !known {
			at = len(out)
			places[is] = at
			out = append(out, errorOfRows{first: one})
		}
		out[at].rows++
	}
	return out
}

// refusedRows returns how many rows errors are of.
func refusedRows(list []contract.KeyImportError) int64 {
	rows := map[int64]bool{}
	for _, one := range list {
		rows[one.Row] = true
	}
	return int64(len(rows))
}

func newKeysCheck(t terminal.Terminal) *cobra.Command {
	var in contract.KeyCheck
	command := cli.RequestCommand(t, cli.OfProject, contract.CheckKey.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			key, err := terminal.ReadHidden(t, "Key: ")
			if err != nil {
				return err
			}
			in.Body.Key = contract.Secret(key)
			found, err := client.Do(c.Context(), api, contract.CheckKey, in)
			switch {
			case err != nil:
				return err
			case terminal.WantsJSON(c):
				return terminal.PrintJSON(t.Out, found)
			case found.Match == nil:
				fmt.Fprintln(t.Out, "No key of the project has this plaintext.")
			default:
				fmt.Fprintf(t.Out, "It is %s.\n", terminal.Printable(*found.Match))
			}
			return nil
		})
	command.Long += "\n\nThe key is read from a prompt, or from standard input, so that it isn't in the shell's " +
		"history."
	terminal.AddJSONFlag(command)
	return command
}
