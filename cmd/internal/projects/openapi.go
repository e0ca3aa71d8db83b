package projects

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

func newOpenAPI(t terminal.Terminal) *cobra.Command {
	return terminal.Family("openapi",
		"Manage a version's OpenAPI document",
		newOpenAPIShow(t),
		newOpenAPISet(t),
		newOpenAPIRemove(t),
		newOpenAPIRules(t),
		newOpenAPISettings(t),
		newOpenAPIInvalid(t),
	)
}

func newOpenAPIShow(t terminal.Terminal) *cobra.Command {
	command := cli.OperationCommand(t, cli.AsProject, contract.ListOpenAPIOperations,
		func(_ contract.VersionPath, found contract.OpenAPI) error { return printOperations(t, found) })
	show := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		err := show(c, args)
		if fault.CodeOf(err) == "no_openapi_document" {
			return fault.New(fault.NotFound, "no_openapi_document", "the version has no OpenAPI document: import one "+
				"with `postern openapi set`").Because(err)
		}
		return err
	}
	return command
}

func printOperations(t terminal.Terminal, found contract.OpenAPI) error {
	if _, err := fmt.Fprintf(t.Out, "%s %s (OpenAPI %s)\n", found.Title, found.Version, found.OpenAPI); err != nil {
		return err
	}
	defer cli.PrintWarnings(t.Out, found.Warnings)
	if len(found.Operations) == 0 {
		_, err := fmt.Fprintln(t.Out, "The document has no operations.")
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("METHOD", "PATH", "SCOPES", "SUMMARY")
		for _, op := range found.Operations {
			row(op.Method, op.Path, strings.Join(op.Scopes, ","), op.Summary)
		}
	})
}

func newOpenAPISet(t terminal.Terminal) *cobra.Command {
	var in contract.OpenAPIUpdate
	command := &cobra.Command{
		Use:   "set PROJECT VERSION FILE|URL",
		Short: "Import an OpenAPI document and show the changed operations",
		Example: "  postern openapi set shop 1.0.0 openapi.yaml --dry-run\n" +
			"  postern openapi set shop 1.0.0 https://api.example.com/openapi.json",
	}
	cli.TakeArguments(t, command, contract.SetOpenAPIDocument, "PROJECT", "VERSION", "FILE|URL")
	terminal.NamePointer(command, "", "FILE|URL")
	terminal.Described(command, [2]string{"FILE|URL", "OpenAPI document in YAML or JSON, or - for standard input"})
	command.Flags().BoolVar(&in.DryRun, "dry-run", false, "show what would change without importing anything")
	command.RunE = func(c *cobra.Command, args []string) error {
		args, err := cli.WholeArguments(t, c, args)
		if err != nil {
			return err
		}
		in.Project, in.Version = args[0], args[1]
		if isWebAddress(args[2]) {
			in.SetURL(args[2])
		} else {
			text, err := readDocument(c.InOrStdin(), args[2])
			if err != nil {
				return err
			}
			in.SetText(text)
		}
		return cli.AsProject(t, c, func(api *client.Client) error {
			found, err := client.Do(c.Context(), api, contract.SetOpenAPIDocument, in)
			if err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, found)
			}
			return printChanges(t, found)
		})
	}
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func isWebAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// readDocument reads a file, or standard input for "-".
func readDocument(in io.Reader, file string) (string, error) {
	text, err := os.ReadFile(file)
	if file == "-" {
		text, err = io.ReadAll(in)
	}
	if err != nil {
		return "", terminal.CannotRead(err)
	}
	return string(text), nil
}

func printChanges(t terminal.Terminal, found contract.OpenAPI) error {
	done := "Imported"
	if !found.Saved {
		done = "Dry run (nothing was imported):"
	}
	defer cli.PrintWarnings(t.Out, found.Warnings)
	_, err := fmt.Fprintf(t.Out, "%s %s %s with %s.\n", done, found.Title, found.Version,
		terminal.Count{N: int64(len(found.Operations)), One: "operation"})
	if err != nil || found.Changes == nil {
		return err
	}
	for _, group := range []struct {
		sign  string
		names []string
	}{
		{"+", found.Changes.Added},
		{"-", found.Changes.Removed},
		{"~", found.Changes.Changed},
	} {
		for _, name := range group.names {
			if _, err := fmt.Fprintln(t.Out, group.sign, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func newOpenAPIRemove(t terminal.Terminal) *cobra.Command {
	return cli.DoneCommand(t, cli.AsProject, contract.RemoveOpenAPIDocument,
		"Removed the OpenAPI document of version %s.")
}

// newOpenAPIRules prints as JSON what rules set reads: the proposed rules after those that the version has.
func newOpenAPIRules(t terminal.Terminal) *cobra.Command {
	var in contract.VersionPath
	command := cli.RequestCommand(t, cli.AsProject, contract.ProposeRules.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			found, err := client.Do(c.Context(), api, contract.ProposeRules, in)
			if err != nil {
				return err
			}
			if !terminal.WantsJSON(c) {
				return printProposal(t, found)
			}
			now, err := client.Do(c.Context(), api, contract.GetRules, in)
			if err != nil {
				return err
			}
			now.List = append(now.List, found.Rules...)
			cli.PrintWarnings(t.Err, found.Warnings) // the JSON is the input of rules set
			return terminal.PrintJSON(t.Out, now.Rules)
		})
	command.Long = `Propose shadow rules for operations that have no rule yet, based on a version's
OpenAPI document. Nothing is saved. --json prints the existing rules followed by
the proposed ones, in the format that postern rules set --file accepts.`
	command.Example = `  postern openapi rules shop 1.0.0
  postern openapi rules shop 1.0.0 --json | postern rules set shop 1.0.0 --file -`
	terminal.AddJSONFlag(command)
	return command
}

func printProposal(t terminal.Terminal, found contract.RuleProposal) error {
	if len(found.Rules) == 0 {
		_, err := fmt.Fprintln(t.Out, "Every operation already has a rule.")
		return err
	}
	if found.Derived {
		_, err := fmt.Fprintln(t.Out, "The document doesn't define scopes. These scopes are derived from its paths:")
		if err != nil {
			return err
		}
	}
	err := terminal.Table(t.Out, func(row func(...string)) {
		row("METHODS", "PATH", "SCOPES", "OBJECTS", "MODE")
		for _, one := range found.Rules {
			row(strings.Join(one.Methods, ","), one.Path, strings.Join(one.Scopes, ","), objectsOf(one),
				string(one.Mode))
		}
	})
	if err != nil {
		return err
	}
	for _, one := range found.LeftOut {
		if _, err := fmt.Fprintf(t.Out, "No rule for %s: %s\n", one.Operation, one.Reason); err != nil {
			return err
		}
	}
	cli.PrintWarnings(t.Out, found.Warnings)
	return nil
}

func newOpenAPISettings(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "settings PROJECT VERSION",
		Short: "Show or change validation and publication",
		Long: "Show or change whether requests are validated against a version's OpenAPI\ndocument, and whether " +
			"the gateway publishes the document as openapi.json. Without flags,\nthe command shows the settings.",
		Example: "  postern openapi settings shop 1.0.0 --validation report\n" +
			"  postern openapi settings shop 1.0.0 --validation enforce --publication public",
	}
	_, replace := cli.ValueFlags[contract.OpenAPISettings](t, command)
	edit := func(
		path contract.VersionPath, now contract.SavedOpenAPISettings, _ []string,
	) (*contract.OpenAPISettingsUpdate, error) {
		if !replace(&now.OpenAPISettings) {
			return nil, nil // the settings are shown
		}
		return &contract.OpenAPISettingsUpdate{
			VersionPath: path, Condition: contract.Condition{IfMatch: now.ETag}, Body: now.OpenAPISettings,
		}, nil
	}
	return cli.EditCommand(t, command, cli.VersionOf, contract.GetOpenAPISettings, edit, contract.SetOpenAPISettings,
		func(saved contract.SavedOpenAPISettings) error { return printOpenAPISettings(t, saved) },
		"PROJECT", "VERSION")
}

func printOpenAPISettings(t terminal.Terminal, found contract.SavedOpenAPISettings) error {
	validation, _ := found.Validation.MarshalText()
	publication, _ := found.Publication.MarshalText()
	err := terminal.Table(t.Out, func(row func(...string)) {
		row("Validation", string(validation))
		row("Publication", string(publication))
	})
	if err != nil || len(found.Unchecked) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(t.Out, "\nNot checked:"); err != nil {
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		for _, one := range found.Unchecked {
			row(one.At, one.Reason)
		}
	})
}

func newOpenAPIInvalid(t terminal.Terminal) *cobra.Command {
	return cli.OperationCommand(t, cli.AsProject, contract.ListInvalidRequests,
		func(_ contract.VersionPath, found contract.List[contract.InvalidRequest]) error {
			if len(found.Items) == 0 {
				_, err := fmt.Fprintln(t.Out, "No calls would have been refused.")
				return err
			}
			return terminal.Table(t.Out, func(row func(...string)) {
				row("OPERATION", "CALLS", "LAST", "WHY")
				for _, one := range found.Items {
					row(one.Operation, strconv.FormatInt(one.Calls, 10), one.LastAt.Format("2006-01-02 15:04"),
						one.Problem)
				}
			})
		})
}
