package callers

import (
	"errors"
	"fmt"
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
	var files terminal.Inputs
	command := cli.RequestCommand(t, cli.OfProject, contract.ImportKeys.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			var all []contract.KeysImported
			var refused int64
			for _, file := range files {
				done, err := importKeys(c, t, api, in, file)
				if err != nil {
					return err
				}
				refused += done.Refused
				if all = append(all, done); !terminal.WantsJSON(c) {
					printKeysImported(t, c, file.Path, in.DryRun, done)
				}
			}
			if err := printKeysAsJSON(t, c, all); err != nil || refused == 0 {
				return err
			}
			return fmt.Errorf("refused rows: %d", refused)
		})
	command.Use = "import PROJECT FILE…"
	command.Long = `Import API keys from files. A file can contain up to 1,000,000 keys as NDJSON, a JSON
array or CSV. The keys keep working unchanged. Files from Unkey, Kong, AWS and Tyk are
recognized by their columns. Postern stores only hashes of the keys. If a row is
refused, the other rows are still imported, but the exit code is 1.

Each row must have an owner and either a key or its sha256. The other fields are
optional: name, description, state, key_type or scopes, tenant, product, environment,
created_at, expires_at, metadata, limits, allowed_cidrs, credential_id, consumer_id,
consumer_username and consumer_custom_id. If your file uses other names, use --map.

    owner,key,key_type,expires_at
    acme,3f9c1e7ab2d84c06,read-only,2027-12-31T00:00:00Z`
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return fmt.Errorf("%s is missing", []string{"PROJECT", "FILE"}[len(args)])
		}
		return nil
	}
	send := command.RunE
	command.RunE = func(c *cobra.Command, args []string) (err error) {
		if files, err = terminal.OpenInputs(t.In, args[1:], 0); err != nil { // before any of them is sent
			return err
		}
		defer files.Close()
		return send(c, args)
	}
	command.ValidArgsFunction = nil // the others are files
	terminal.Described(command, [2]string{"FILE", "file with keys, or - for standard input. You can import several " +
		"files at once"})
	terminal.AddJSONFlag(command)
	return command
}

// printKeysAsJSON prints what became of one file, or a list for several, if --json is given.
func printKeysAsJSON(t terminal.Terminal, c *cobra.Command, all []contract.KeysImported) error {
	switch {
	case !terminal.WantsJSON(c):
		return nil
	case len(all) == 1:
		return terminal.PrintJSON(t.Out, all[0])
	}
	return terminal.PrintJSON(t.Out, all)
}

func importKeys(
	c *cobra.Command, t terminal.Terminal, api *client.Client, in contract.KeyImport, file *terminal.Input,
) (done contract.KeysImported, err error) {
	var sent terminal.Counter
	watched := api.Watched(func() func() {
		return t.WaitingFor(func() string {
			return "Importing " + terminal.Printable(file.Name) + ": " + sent.Of(file.Size)
		})
	})
	done, err = client.Upload(c.Context(), watched, contract.ImportKeys, in, sent.ReaderAt(file), file.Size)
	if err != nil {
		err = fmt.Errorf("%s: %w", terminal.Printable(file.Path), err)
	}
	return done, err
}

func printKeysImported(
	t terminal.Terminal, c *cobra.Command, name string, dryRun bool, done contract.KeysImported,
) {
	will := ""
	if dryRun {
		will = " (dry run: nothing was changed)"
	}
	fmt.Fprintf(t.Out, "%s: %d created, %d updated, %d unchanged, %d refused%s\n", terminal.Printable(name),
		done.Created, done.Updated, done.Unchanged, done.Refused, will)
	for i, one := range done.ErrorsOfRows() {
		if i == shownErrors {
			fmt.Fprintf(t.Out, "  Use --json to see more errors.\n")
			break
		}
		at := strings.TrimPrefix(one.Pointer, "/")
		if at != "" {
			at = ", " + terminal.Printable(at)
		}
		fmt.Fprintf(t.Out, "  %s%s: %s (%s)\n", rowsFrom(one.Row, one.Rows), at,
			terminal.Printable(terminal.FlagsOnly(c, one.Detail)), one.Code)
	}
	if n := done.Unlisted(); n > 0 {
		fmt.Fprintf(t.Out, "  Refused rows that aren't listed: %d\n", n)
	}
	for _, one := range done.Notes {
		fmt.Fprintf(t.Out, "  Note for %s: %s\n", rowsFrom(one.Row, one.Rows),
			terminal.Printable(terminal.FlagsOnly(c, one.Detail)))
	}
}

func rowsFrom(first, rows int64) string {
	if rows == 1 {
		return fmt.Sprintf("row %d", first)
	}
	return fmt.Sprintf("%d rows, starting at row %d", rows, first)
}

func newKeysCheck(t terminal.Terminal) *cobra.Command {
	var in contract.KeyCheck
	command := cli.RequestCommand(t, cli.OfProject, contract.CheckKey.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			plaintext, err := terminal.ReadHidden(t, "key")
			if err != nil {
				return err
			}
			in.Body.Key = contract.Secret(plaintext)
			found, err := client.Do(c.Context(), api, contract.CheckKey, in)
			switch {
			case err != nil:
				return err
			case terminal.WantsJSON(c):
				return terminal.PrintJSON(t.Out, found)
			case found.Match == nil:
				return errors.New("this key doesn't belong to the project")
			}
			key, err := client.Do(c.Context(), api, contract.GetKey, contract.KeyPath{Key: *found.Match})
			if err != nil {
				return err
			}
			state := ""
			if key.State != contract.KeyActive {
				state = ", which is " + key.State
			}
			fmt.Fprintf(t.Out, "This is the key %s%s.\n", terminal.Printable(key.ID), terminal.Printable(state))
			return nil
		})
	command.Long += "\n\nThe command reads the key from a prompt or from standard input, so that the key isn't\n" +
		"stored in your shell's history. If no key in the project matches, the exit code is 1,\nunless you use --json."
	terminal.AddJSONFlag(command)
	return command
}
