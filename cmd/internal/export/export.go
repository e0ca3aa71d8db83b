// Package export has the commands that export a project as a zip, import it again, and verify a zip without a server.
// It owns what these commands print about a ledger. Package bundle reads and checks zips; the server writes them.
package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

type exportFlags struct {
	kong, data  bool
	file        string
	force       bool
	keys        string
	keysGiven   bool // keys is not the default
	secrets     bool
	recipient   string
	password    string // name of the file with it
	noConsumers bool
	preview     bool
}

// keysOptions are the values of --keys. A wrong one is a usage error before a request
// is sent.
var keysOptions = []string{"hashes", "mint", "none"}

// Commands returns the commands that take projects out of Postern, check what was exported, and bring it back.
func Commands(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newExport(t), newExports(t), newImport(t), newVerify(t)}
}

func newExport(t terminal.Terminal) *cobra.Command {
	var f exportFlags
	command := &cobra.Command{
		Use:   "export PROJECT [--kong | --data] [-o FILE]",
		Short: "Export a project as a zip",
		Long: `Export a project as a zip: as data, or as a folder that runs on Kong 3.9 where
existing API keys keep working. The project itself is not changed.

The server builds the export. This command waits for it, checks the zip's
SHA-256, and prints how many items moved exactly, approximately, with loss, or not at
all. MIGRATION-REPORT.json in the zip says so item by item, and --preview before
there is one.`,
		Example: `  postern export shop --kong
  postern export shop --kong --preview
  postern export shop --data -o backup.zip --force`,
		Args: terminal.Exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			f.keysGiven = c.Flags().Changed("keys")
			in, err := f.input()
			if err != nil {
				return err
			}
			if f.preview {
				return previewExport(c, t, args[0], in)
			}
			if f.secrets {
				password, err := terminal.ReadSecret(t, f.password)
				if err != nil {
					return err
				}
				in.Password = contract.Secret(password)
				warn := "This zip will have secrets in plaintext: keep it as you keep passwords."
				if f.recipient != "" {
					warn = "This zip will have secrets that only the key of " + f.recipient + " opens."
				}
				if _, err := fmt.Fprintln(t.Err, warn); err != nil {
					return err
				}
			}
			s, err := cli.OpenSession(t, c)
			if err != nil {
				return err
			}
			return export(c.Context(), t, s, args[0], in, f, terminal.WantsJSON(c))
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.data, "data", false, "as data (default)")
	flags.BoolVar(&f.kong, "kong", false, "as data and a gateway that runs on Kong 3.9")
	flags.BoolVar(&f.preview, "preview", false, "only say what would move, and how; nothing is exported")
	flags.StringVarP(&f.file, "output", "o", "", "file to write (default: PROJECT-data.zip or PROJECT-kong.zip)")
	flags.BoolVar(&f.force, "force", false, "overwrite the file if it exists")
	flags.StringVar(
		&f.keys, "keys", "hashes", "hashes: existing API keys keep working; mint: new keys beside them; none",
	)
	flags.BoolVar(&f.noConsumers, "no-consumers", false, "leave out users with their identities, groups, and API keys "+
		"with their owners; not with --keys hashes or mint")
	flags.BoolVar(&f.secrets, "secrets", false, "with the secrets that identity providers, token endpoints and "+
		"upstreams know you by; whoever has the zip can act as you there")
	flags.StringVar(&f.recipient, "recipient", "", "public key of age (age1…) that the secrets are encrypted to")
	flags.StringVar(&f.password, "password-file", "",
		"file with your password, which --secrets needs; - for standard input")
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func (f exportFlags) input() (contract.NewExport, error) {
	if f.kong && f.data {
		return contract.NewExport{}, terminal.UsageError("--kong and --data exclude each other: give one")
	}
	if !slices.Contains(keysOptions, f.keys) {
		return contract.NewExport{}, terminal.UsageError(
			fmt.Sprintf("--keys %q is none of %s", f.keys, strings.Join(keysOptions, ", ")))

	}
	if !f.keysGiven {
		f.keys = "" // the server's default, which depends on the consumers
	}
	if f.noConsumers && f.keys != "" && f.keys != "none" {
		return contract.NewExport{},
			terminal.UsageError(fmt.Sprintf("--keys %s and --no-consumers exclude each other: keys "+
				"need the consumers that own them. Leave --keys out, or include consumers.", f.keys))
	}
	if f.recipient != "" && !f.secrets {
		return contract.NewExport{}, terminal.UsageError("--recipient is for --secrets: give both, or neither")
	}
	if f.secrets && f.password == "" && !f.preview {
		return contract.NewExport{},
			terminal.UsageError("--secrets needs your password: give --password-file FILE, or - for " +
				"standard input. An account without a password exports secrets in the dashboard.")
	}
	in := contract.NewExport{Format: "data", Keys: f.keys, Secrets: f.secrets, Recipient: f.recipient}
	if f.kong {
		in.Format = "gateway"
	}
	if f.noConsumers {
		consumers := false
		in.Consumers = &consumers
	}
	return in, nil
}

// exporting is a project and the credential that may read it.
type exporting struct {
	contract.Project
	by cli.Caller
}

func export(
	ctx context.Context, t terminal.Terminal, s cli.Session, project string, in contract.NewExport, f exportFlags,
	asJSON bool,
) error {
	if f.file != "" {
		// Checked before an export is queued and waited for.
		if err := terminal.CanSave(t.Err, f.file, f.force); err != nil {
			return err
		}
	}
	p, err := cli.OnProject(ctx, s, project, func(ctx context.Context, api cli.Caller) (exporting, error) {
		p, err := client.Do(ctx, api.Client, contract.GetProject, contract.ProjectPath{Project: project})
		return exporting{p, api}, err
	})
	if err != nil {
		return err
	}
	if f.file == "" {
		// The server chose the name, which must not lead out of this folder.
		if filepath.Base(p.Name) != p.Name || terminal.Printable(p.Name) != p.Name || p.Name == "" || p.Name[0] == '.' {
			return errors.New("the server's name for this project cannot name a file: choose one with --output")
		}
		f.file = p.Name + "-" + map[string]string{"gateway": "kong", "data": "data"}[in.Format] + ".zip"
		if err := terminal.CanSave(t.Err, f.file, f.force); err != nil {
			return err
		}
	}
	e, err := client.Do(ctx, p.by.Client, contract.CreateExport, in.In(p.ID))
	if err != nil {
		return err
	}
	shown := terminal.NewProgress(t.Err)
	e, err = p.by.WaitExport(ctx, e.ID, func(e contract.Export) { shown.Say(progressOf(e)) })
	shown.End()
	if err != nil {
		return err
	}
	if err := save(ctx, p.by, e, f.file); err != nil {
		return err
	}
	if asJSON {
		return terminal.PrintJSON(t.Out, e)
	}
	lines, err := Unmoved(ctx, p.by.Client, e)
	if err != nil {
		return err
	}
	return printExported(t, f.file, e, lines)
}

// progressOf says how far an export is.
func progressOf(e contract.Export) string {
	text := e.State
	if e.Progress.Part != "" {
		text += ": " + terminal.Printable(e.Progress.Part)
	}
	if e.Progress.RowsTotal > 0 {
		text += fmt.Sprintf(", %d of %d rows", e.Progress.RowsDone, e.Progress.RowsTotal)
	}
	return text
}

func save(ctx context.Context, by cli.Caller, e contract.Export, file string) error {
	return terminal.WriteFile(file, func(part *os.File) error { return by.Download(ctx, e, part) })
}

func printExported(t terminal.Terminal, file string, e contract.Export, lines []contract.LedgerLine) error {
	fmt.Fprintf(t.Out, "Saved %s, %s, SHA-256 %s.\n\n", terminal.Printable(file), terminal.Size(e.SizeBytes), e.SHA256)
	err := terminal.Details(t.Out, func(row func(...string)) {
		printLedger(row, e.Ledger.Exact, e.Ledger.Approximate, e.Ledger.Lossy, e.Ledger.Skipped)
	})
	if err != nil {
		return err
	}
	var text strings.Builder
	WriteUnmoved(&text, lines)
	fmt.Fprintf(t.Out, "\n%s\n", text.String())
	next := "MIGRATION-REPORT.json in the zip lists every item. To read why: postern exports ledger " + e.ID
	if e.Format == "gateway" {
		next += "\nTo run it: unpack the zip and read gateway/README.md."
	}
	_, err = fmt.Fprintf(t.Out, "%s\n", next)
	return err
}

func printLedger(row func(...string), exact, approximate, lossy, skipped int64) {
	row("  exact", fmt.Sprint(exact), "moved as they are")
	row("  approximate", fmt.Sprint(approximate), "moved, and behave slightly differently")
	row("  lossy", fmt.Sprint(lossy), "moved in part")
	row("  skipped", fmt.Sprint(skipped), "not moved")
}
