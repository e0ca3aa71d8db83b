// Package export has the commands that export a project as a zip, import it again, and verify a zip without a server.
// It owns what these commands print about a ledger. Package bundle reads and checks zips; the server writes them.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// stdout is the file name for standard output.
const stdout = "-"

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
				return previewExport(c, t, args[0], in)
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
			asJSON := terminal.WantsJSON(c)
			if f.file == stdout {
				switch {
				case asJSON:
					return terminal.UsageError("--json and -o - both write to standard output: use one of them")
				case terminal.IsTerminal(t.Out):
					return terminal.UsageError("can't write a zip to a terminal: redirect the output, or choose a " +
						"file with -o")
				}
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
	flags.StringVarP(&f.file, "output", "o", "", "file to write, or - for standard output. Defaults to "+
		"PROJECT-data.zip or PROJECT-kong.zip")
	flags.BoolVar(&f.force, "force", false, "overwrite the file if it exists")
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
	if f.file == stdout && f.force {
		return contract.NewExport{}, terminal.UsageError("--force and -o - can't be combined: use one of them")
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
	if f.file != "" && f.file != stdout {
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
			return errors.New("the project's name can't be used as a file name: choose a file name with --output")
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
	defer shown.End()
	if f.file == stdout {
		return download(ctx, t, p.by, e, shown)
	}
	if err := save(ctx, p.by, e, f.file, shown); err != nil {
		return err
	}
	shown.End()
	if asJSON {
		return terminal.PrintJSON(t.Out, e)
	}
	lines, err := ConfiguredLines(ctx, p.by.Client, e)
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

func save(ctx context.Context, by cli.Caller, e contract.Export, file string, shown *terminal.Progress) error {
	return terminal.WriteFile(file, func(part *os.File) error { return downloadTo(ctx, part, by, e, shown) })
}

// downloadTo writes an export to w, and shows how much of it is there.
func downloadTo(
	ctx context.Context, w io.Writer, by cli.Caller, e contract.Export, shown *terminal.Progress,
) error {
	return by.Download(ctx, e, &counted{Writer: w, of: e.SizeBytes, shown: shown})
}

// counted shows for each megabyte how much of a download is written.
type counted struct {
	io.Writer
	done, of int64
	shown    *terminal.Progress
}

// Write implements io.Writer.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	before := c.done >> 20
	if c.done += int64(n); c.done>>20 > before {
		c.shown.Say(fmt.Sprintf("downloading: %s of %s", terminal.Size(c.done), terminal.Size(c.of)))
	}
	return n, err //nolint:wrapcheck // of the file
}

// download writes an export to standard output, and says on the other one whether it is whole.
func download(
	ctx context.Context, t terminal.Terminal, by cli.Caller, e contract.Export, shown *terminal.Progress,
) error {
	if err := downloadTo(ctx, t.Out, by, e, shown); err != nil {
		return fmt.Errorf("the zip is incomplete: %w", err)
	}
	shown.End()
	_, err := fmt.Fprintf(t.Err, "Wrote %s, SHA-256 %s.\n", terminal.Size(e.SizeBytes), e.SHA256)
	return err //nolint:wrapcheck // of the terminal
}

func printExported(t terminal.Terminal, file string, e contract.Export, lines []contract.LedgerLine) error {
	fmt.Fprintf(t.Out, "Saved %s, %s, SHA-256 %s.\n\n", terminal.Printable(file), terminal.Size(e.SizeBytes), e.SHA256)
	fmt.Fprintf(t.Out, "%s\n\n", headlineOf(e.Ledger, e.Format))
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
