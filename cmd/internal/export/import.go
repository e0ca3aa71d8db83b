package export

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

type importFlags struct {
	in       contract.NewImport
	sum, key string
	yes      bool
}

func newImport(t terminal.Terminal) *cobra.Command {
	var f importFlags
	command := &cobra.Command{
		Use:   "import FILE [--name NAME] [--dry-run]",
		Short: "Make a project of an exported zip",
		Long: `Make a project of an exported zip, in this or another Postern. The zip is verified
first, as postern verify does. Versions, environments, access policies, limits, key
types, tenants, people, groups, app clients and owners of objects are imported, and API
keys by their hashes: keys that callers hold open the new project at once. Everything is
imported, or nothing.

What a zip cannot carry, such as secrets and signing keys, is listed before anything is
written. With --dry-run, that is all this command does.`,
		Example: `  postern import shop-data.zip --dry-run
  postern import shop-data.zip --name shop-copy`,
		Args: terminal.Exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if (c.Flags().Changed("sha256") && f.sum == "") || (c.Flags().Changed("signed-by") && f.key == "") {
				return terminal.UsageError(
					"--sha256 and --signed-by need a value: leave out the one that is not to be checked",
				)
			}
			against, err := readAgainst(f.sum, f.key)
			if err != nil {
				return err
			}
			report, err := VerifyFile(c.Context(), args[0], against)
			if err != nil {
				return err
			}
			f.in.SHA256 = hex.EncodeToString(report.SHA256[:]) // the file may be replaced before it is sent
			_, by, err := cli.SignedIn(t, c)
			if err != nil {
				return err
			}
			return f.run(c.Context(), t, by, args[0], terminal.WantsJSON(c))
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.in.Name, "name", "", "name of the new project (default: the one in the zip)")
	cli.TeamFlag(command, &f.in.Team)
	flags.BoolVar(&f.in.DryRun, "dry-run", false, "change nothing, and show what an import would do")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before the import")
	flags.StringVar(&f.sum, "sha256", "", "SHA-256 that the whole zip must have, in hexadecimal")
	flags.StringVar(&f.key, "signed-by", "", "public `KEY` that must have signed it: a PEM file, or the key in base64")
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

// run shows what an import would do, and imports.
func (f importFlags) run(ctx context.Context, t terminal.Terminal, by *cli.Caller, name string, asJSON bool) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("cannot read the zip: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("cannot read the zip: %w", err)
	}
	preview := f.in
	preview.DryRun = true
	would, err := client.Upload(ctx, by.Client, contract.ImportProject, preview, file, info.Size())
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
			_, err := fmt.Fprintln(t.Out, "Nothing was imported.")
			return err
		}
	}
	did, err := client.Upload(ctx, by.Client, contract.ImportProject, f.in, file, info.Size())
	if err != nil {
		return err
	}
	if asJSON {
		return terminal.PrintJSON(t.Out, did)
	}
	return printImported(t.Out, did)
}

func printImport(w io.Writer, i contract.Import) error {
	fmt.Fprintf(w, "%s is imported with:\n\n", terminal.Printable(i.Project.Name))
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
			{"relations", i.Made.Relations},
		} {
			row("  "+line.noun, fmt.Sprint(line.n))
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nNot as it was:\n\n")
	for _, one := range i.LeftOut {
		about := one.Code
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
