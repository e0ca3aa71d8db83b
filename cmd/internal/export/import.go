package export

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/core/filelimits"
)

type importFlags struct {
	in       contract.NewImport
	sum, key string
	yes      bool
	gateway  gatewayFlags
}

func newImport(t terminal.Terminal) *cobra.Command {
	var f importFlags
	command := &cobra.Command{
		Use:   "import FILE… [--name NAME] [--dry-run]",
		Short: "Import a project from an exported zip, or projects from another gateway's files",
		Long: `Import a project from an exported zip. The zip can come from another server. The command
verifies the zip first, like postern verify. The import includes versions, environments,
access settings, limits, key types, tenants, users, groups, app clients, API keys
and object owners. Existing keys work in the new project immediately. The import is
all or nothing.

The command first lists what the zip doesn't contain, such as secrets and signing keys.
On a terminal, it then asks for confirmation. With --dry-run, it only prints the list.

You can also import one or more files from another gateway. For Kong, these are
declarative YAML or JSON files, decK dumps, or responses from GET /config. For AWS API
Gateway, these are exports from get-export and export-api, and responses from
get-api-keys, get-usage-plans, get-usage-plan-keys, get-stages and
get-base-path-mappings.

For these files, the command first shows a plan. The plan shows how each entity
would be imported, which routes stay closed (refuse all calls), and which tasks remain.
With --dry-run, the command creates the plan on this machine and sends nothing. Without
--dry-run, the server creates the plan and stores only hashes of the keys in the files.

After you confirm the plan, the command imports the files and prints the URLs and the
remaining tasks. --yes skips the confirmation, but doesn't open closed routes. To open
them, use --open. If you import the files again, only the differences are imported. To
undo an import that only created objects, use postern imports undo.`,
		Example: `  postern import shop-data.zip --dry-run
  postern import shop-data.zip --name shop-copy
  postern import kong.yaml --dry-run --host api.example.com --set UPSTREAM=api.internal
  postern import kong.yaml --host api.example.com --env UPSTREAM
  postern import orders.yaml users.yaml consumers.yaml --dry-run`,
		Args: terminal.AtLeast("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if int64(len(args)) > filelimits.GatewayFiles.Most {
				return terminal.UsageError(filelimits.GatewayFiles.Sentence())
			}
			inputs, err := terminal.OpenInputs(t.In, args, filelimits.MaxZip)
			if err != nil {
				return err
			}
			defer inputs.Close()
			files, err := readFiles(inputs)
			switch {
			case err != nil:
				return err
			case len(files) > 0:
				return f.importFiles(t, c, files)
			case f.gateway.areSet(c):
				return terminal.UsageError("--host, --open, --set, --env, --trust, --allow-weak, --theirs and " +
					"--retry-on-timeout are for files from other gateways, but this is a zip")
			}
			against, err := readAgainst(f.sum, f.key)
			if err != nil {
				return err
			}
			report, err := verifyFile(c.Context(), t, inputs[0], against)
			if err != nil {
				return err
			}
			f.in.SHA256 = hex.EncodeToString(report.SHA256[:]) // the file may be replaced before it is sent
			_, by, err := cli.SignedIn(t, c)
			if err != nil {
				return err
			}
			return f.run(c.Context(), t, by, inputs[0], terminal.WantsJSON(c))
		},
	}
	for _, m := range contract.ImportProject.Members() {
		if m.Flag != "" {
			cli.NameMember(command, m)
		}
	}
	flags := command.Flags()
	flags.SortFlags = false
	terminal.Described(command, [2]string{"FILE", "exported zip or file from another gateway, or - for standard input"})
	flags.StringVar(&f.in.Name, "name", "", "name of the new project. Defaults to the name in the zip. Other "+
		"gateways: name of the product and the tenant. If you import from several gateways, use a different name for "+
		"each. Defaults to kong or aws")
	cli.TeamFlag(t, command, &f.in.Team)
	flags.BoolVar(&f.in.DryRun, "dry-run", false, "show what the import would do, without changing anything")
	flags.BoolVar(&f.yes, "yes", false, "skip the confirmation")
	flags.StringVar(&f.sum, "sha256", "", "SHA-256 checksum that the zip must have, in hexadecimal")
	flags.StringVar(&f.key, "signed-by", "", "public `KEY` that verifies the zip's signature: a PEM file, or "+
		"the key in base64")
	f.gateway.add(command)
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

// run shows what an import would do, and imports.
func (f importFlags) run(
	ctx context.Context, t terminal.Terminal, by *cli.Caller, zip *terminal.Input, asJSON bool,
) error {
	preview := f.in
	preview.DryRun = true
	would, err := upload(ctx, t, by, contract.ImportProject, preview, zip, zip.Size, zip.Name)
	if err != nil {
		return err
	}
	if !asJSON {
		if err := printImport(t.Out, would); err != nil {
			return err
		}
	}
	if f.in.DryRun {
		if asJSON {
			return terminal.PrintJSON(t.Out, would)
		}
		fmt.Fprintf(t.Out, "\nNothing was changed.\n")
		return nil
	}
	if !f.yes && t.Asks() {
		fmt.Fprintln(t.Out)
		if !terminal.Answered(t, "Import "+would.Project.Name+"? [y/N] ", "y") {
			return errors.New("canceled: nothing was imported")
		}
	}
	did, err := upload(ctx, t, by, contract.ImportProject, f.in, zip, zip.Size, zip.Name)
	if err != nil {
		return err
	}
	if asJSON {
		return terminal.PrintJSON(t.Out, did)
	}
	return printImported(t.Out, did)
}

// upload sends a file of that size, and shows how much of it was sent.
func upload[Out any](
	ctx context.Context, t terminal.Terminal, by *cli.Caller, op *contract.Op[contract.NewImport, Out],
	in contract.NewImport, file io.ReaderAt, size int64, name string,
) (Out, error) {
	var sent terminal.Counter
	api := by.Watched(func() func() {
		return t.WaitingFor(func() string {
			if sent.Done(size) {
				return "Waiting for the server to read the file"
			}
			return "Uploading " + terminal.Printable(name) + ": " + sent.Of(size)
		})
	})
	return client.Upload(ctx, api, op, in, sent.ReaderAt(file), size)
}

func printImport(w io.Writer, i contract.Import) error {
	fmt.Fprintf(w, "%s will have:\n\n", terminal.Printable(i.Project.Name))
	err := terminal.Details(w, func(row func(...string)) {
		for _, line := range []struct {
			noun string
			n    int64
		}{
			{"versions", i.Made.Versions},
			{"environments", i.Made.Environments},
			{"key types", i.Made.KeyTypes},
			{"API keys", i.Made.Keys},
			{"tenants", i.Made.Tenants},
			{"app clients", i.Made.AppClients},
			{"providers", i.Made.Providers},
			{"groups", i.Made.Groups},
			{"users", i.Made.Users},
			{"object owners", i.Made.Relations},
		} {
			row("  "+line.noun, fmt.Sprint(line.n))
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nDifferences from the exported project:\n\n")
	for _, one := range i.LeftOut {
		about := one.Title()
		if one.Subject != "" {
			about += ": " + one.Subject
		}
		fmt.Fprintf(w, "  %s\n      %s\n", terminal.Printable(about), terminal.Printable(one.Detail))
	}
	return nil
}

func printImported(w io.Writer, i contract.Import) error {
	fmt.Fprintf(w, "\nImported %s, %s.\n\n", terminal.Printable(i.Project.Name), terminal.Printable(i.Project.ID))
	return terminal.Details(w, func(row func(...string)) {
		for _, v := range i.Project.Versions {
			for _, e := range v.Environments {
				row("  "+v.Name+" "+e.Name, e.URL)
			}
		}
	})
}
