// Package export has the commands that export a project as a zip, import it again, and verify a zip without a server.
// It owns what these commands print about a ledger. Package bundle reads and checks zips; the server writes them.
package export

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

type exportFlags struct {
	output
	kong, data  bool
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
	return []*cobra.Command{newExport(t), newExports(t), newImport(t), newImports(t), newVerify(t)}
}

func newExport(t terminal.Terminal) *cobra.Command {
	var f exportFlags
	command := &cobra.Command{
		Use:   "export PROJECT [--kong | --data] [-o FILE]",
		Short: "Export a project as a zip",
		Long: `Export a project as a zip. --data exports data only. --kong also exports a gateway
that runs on Kong 3.9, where existing API keys keep working. The project isn't changed.

The server builds the export. The command waits for it, checks the SHA-256 of the zip,
and prints how much of your configuration moved unchanged and which tasks
remain. MIGRATION-REPORT.md in the zip explains each kind of item. To see these results
before you export, use --preview.`,
		Example: `  postern export shop --kong
  postern export shop --kong --preview
  postern export shop --data -o backup.zip --force
  postern export shop -o - > shop.zip`,
		RunE: func(c *cobra.Command, args []string) error {
			f.keysGiven = c.Flags().Changed("keys")
			in, err := f.input()
			if err != nil {
				return err
			}
			if f.preview {
				if f.file != "" || f.force {
					return terminal.UsageError("--preview doesn't write a file: use it without -o and --force")
				}
				return previewExport(c, t, args[0], in)
			}
			asJSON := terminal.WantsJSON(c)
			if err := f.canWrite(t, asJSON); err != nil {
				return err
			}
			if f.secrets {
				password, err := terminal.ReadSecret(t, f.password)
				if err != nil {
					return terminal.OfFlag("password-file", err)
				}
				in.Password = contract.Secret(password)
				warn := "This zip will contain secrets in plaintext. Store it as safely as passwords."
				if f.recipient != "" {
					warn = "This zip will contain secrets that only the private key of " + f.recipient + " can decrypt."
				}
				if _, err := fmt.Fprintln(t.Err, warn); err != nil {
					return err
				}
			}
			s, err := cli.OpenSession(t, c)
			if err != nil {
				return err
			}
			return export(c.Context(), t, s, args[0], in, f, asJSON)
		},
	}
	cli.TakeArguments(t, command, contract.CreateExport, "PROJECT")
	for _, flag := range []string{"keys", "secrets", "recipient"} {
		terminal.NamePointer(command, "/"+flag, "--"+flag)
	}
	terminal.NamePointer(command, "/consumers", "--no-consumers")
	terminal.NamePointer(command, "/password", "--password-file")
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.data, "data", false, "export data only, which is the default")
	flags.BoolVar(&f.kong, "kong", false, "export data and a gateway that runs on Kong 3.9")
	flags.BoolVar(&f.preview, "preview", false, "show how each item would move, without exporting anything")
	f.add(command)
	flags.StringVar(
		&f.keys, "keys", "hashes", "hashes keeps existing API keys working; mint also adds new keys; none leaves "+
			"keys out",
	)
	flags.BoolVar(&f.noConsumers, "no-consumers", false, "leave out users and their identities, groups and API "+
		"keys. Can't be combined with --keys hashes or mint")
	flags.BoolVar(&f.secrets, "secrets", false, "include your secrets for identity providers, token endpoints and "+
		"upstreams. Unless you encrypt them with --recipient, anyone who has the zip can use them")
	flags.StringVar(&f.recipient, "recipient", "", "encrypt the secrets to this age public key (age1…)")
	flags.StringVar(&f.password, "password-file", "",
		"file with your password, or - for standard input. Required with --secrets")
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func (f exportFlags) input() (contract.NewExport, error) {
	if f.kong && f.data {
		return contract.NewExport{}, terminal.UsageError("--kong and --data can't be combined: use one of them")
	}
	if !slices.Contains(keysOptions, f.keys) {
		return contract.NewExport{}, terminal.UsageError(
			fmt.Sprintf("--keys must be %[2]s, not %[1]q", f.keys, english.WordSeries(keysOptions, "or")))

	}
	if !f.keysGiven {
		f.keys = "" // the server's default, which depends on the consumers
	}
	if f.noConsumers && f.keys != "" && f.keys != "none" {
		return contract.NewExport{},
			terminal.UsageError(fmt.Sprintf("--keys %s and --no-consumers can't be combined, because keys belong to "+
				"consumers: leave one of them out", f.keys))
	}
	if f.recipient != "" && !f.secrets {
		return contract.NewExport{}, terminal.UsageError("--recipient requires --secrets")
	}
	if f.secrets && f.password == "" && !f.preview {
		return contract.NewExport{},
			terminal.UsageError("--secrets requires --password-file FILE. If your account has no password, export " +
				"secrets in the dashboard")
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
	p, err := cli.OnProject(ctx, s, project, func(ctx context.Context, api cli.Caller) (exporting, error) {
		p, err := client.Do(ctx, api.Client, contract.GetProject, contract.ProjectPath{Project: project})
		return exporting{p, api}, err
	})
	if err != nil {
		return err
	}
	given := f.output
	if err := f.nameAfter(t, p.Project, in.Format); err != nil {
		return err
	}
	e, err := client.Do(ctx, p.by.Client, contract.CreateExport, in.In(p.ID))
	if err != nil {
		return err
	}
	id := e.ID
	if e, err = f.download(ctx, t, p.by.Client, id); err != nil {
		if e.State == "" || e.Running() || e.State == contract.ExportReady {
			fmt.Fprintf(t.Err, "To download the export later, run: postern exports download %s\n", id+given.flags(s))
		}
		return err
	}
	if f.file == stdout {
		return nil
	}
	if asJSON {
		return terminal.PrintJSON(t.Out, e)
	}
	lines, err := ConfiguredLines(ctx, p.by.Client, e)
	if err != nil {
		return err
	}
	return printExported(t, f.file, e, lines)
}

func printExported(t terminal.Terminal, file string, e contract.Export, lines []contract.LedgerLine) error {
	fmt.Fprintf(t.Out, "%s\n%s\n\n", savedLine(file, e), headlineOf(e.Ledger, e.Format))
	own := e.Ledger.Configured
	err := terminal.Details(t.Out, func(row func(...string)) {
		printLedger(row, own.Exact, own.Approximate, own.Lossy, own.Skipped)
		row("  in every project", fmt.Sprint(e.Ledger.Everywhere()), "not counted above")
	})
	if err != nil {
		return err
	}
	var text strings.Builder
	WriteToDos(&text, lines)
	if text.Len() > 0 {
		fmt.Fprintf(t.Out, "\n%s", text.String())
	}
	next := "\nFor details, see MIGRATION-REPORT.md in the zip or run: postern exports ledger " + e.ID
	if e.Format == "gateway" {
		next += "\nTo run it, unpack the zip and see gateway/README.md."
	}
	_, err = fmt.Fprintf(t.Out, "%s\n", next)
	return err
}

func printLedger(row func(...string), exact, approximate, lossy, skipped int64) {
	row("  exact", fmt.Sprint(exact), "moved unchanged")
	row("  approximate", fmt.Sprint(approximate), "moved with differences")
	row("  lossy", fmt.Sprint(lossy), "partially moved")
	row("  skipped", fmt.Sprint(skipped), "not moved")
}
