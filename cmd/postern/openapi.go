package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newOpenAPI(t terminal) *cobra.Command {
	return family("openapi", "Import an OpenAPI document for a version, validate requests, publish it, propose rules",
		newOpenAPIShow(t), newOpenAPISet(t), newOpenAPIRemove(t), newOpenAPIRules(t),
		newOpenAPISettings(t), newOpenAPIInvalid(t))
}

func newOpenAPIShow(t terminal) *cobra.Command {
	command := operationCommand(t, asProject, contract.ListOpenAPIOperations,
		func(_ contract.VersionPath, found contract.OpenAPI) error { return printOperations(t, found) })
	command.Short = "Show the operations of a version's OpenAPI document"
	return command
}

func printOperations(t terminal, found contract.OpenAPI) error {
	if _, err := fmt.Fprintf(t.out, "%s %s (OpenAPI %s)\n", found.Title, found.Version, found.OpenAPI); err != nil {
		return err
	}
	defer printWarnings(t.out, found.Warnings)
	if len(found.Operations) == 0 {
		_, err := fmt.Fprintln(t.out, "The document has no operations.")
		return err
	}
	return table(t.out, func(row func(...string)) {
		row("METHOD", "PATH", "SCOPES", "SUMMARY")
		for _, op := range found.Operations {
			row(op.Method, op.Path, strings.Join(op.Scopes, ","), op.Summary)
		}
	})
}

func newOpenAPISet(t terminal) *cobra.Command {
	var in contract.OpenAPIUpdate
	command := &cobra.Command{
		Use:   "set PROJECT VERSION FILE|URL",
		Short: "Import an OpenAPI document, JSON or YAML, and show which operations change",
		Example: "  postern openapi set shop 1.0.0 openapi.yaml --dry-run\n" +
			"  postern openapi set shop 1.0.0 https://api.example.com/openapi.json",
		Args: exactly("PROJECT", "VERSION", "FILE|URL"),
	}
	command.Flags().BoolVar(&in.DryRun, "dry-run", false, "only show what would change")
	command.RunE = func(c *cobra.Command, args []string) error {
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
		return asProject(t, c, func(api *client.Client) error {
			found, err := client.Do(c.Context(), api, contract.SetOpenAPIDocument, in)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, found)
			}
			return printChanges(t, found)
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
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
		return "", fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return string(text), nil
}

func printChanges(t terminal, found contract.OpenAPI) error {
	done := "Imported"
	if !found.Saved {
		done = "Not imported, because of --dry-run:"
	}
	defer printWarnings(t.out, found.Warnings)
	_, err := fmt.Fprintf(t.out, "%s %s %s with %d operations.\n", done, found.Title, found.Version,
		len(found.Operations))
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
			if _, err := fmt.Fprintln(t.out, group.sign, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func newOpenAPIRemove(t terminal) *cobra.Command {
	command := doneCommand(t, asProject, contract.RemoveOpenAPIDocument,
		"Version %s no longer has an OpenAPI document.")
	command.Short = "Remove the OpenAPI document of a version; exports have a generated one again"
	return command
}

// newOpenAPIRules prints as JSON what rules set reads: the proposed rules after those that the version has.
func newOpenAPIRules(t terminal) *cobra.Command {
	var in contract.VersionPath
	command := requestCommand(t, asProject, contract.ProposeRules.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			found, err := client.Do(c.Context(), api, contract.ProposeRules, in)
			if err != nil {
				return err
			}
			if !wantsJSON(c) {
				return printProposal(t, found)
			}
			now, err := client.Do(c.Context(), api, contract.GetRules, in)
			if err != nil {
				return err
			}
			now.List = append(now.List, found.Rules...)
			printWarnings(t.err, found.Warnings) // the JSON is the input of rules set
			return printJSON(t.out, now.Rules)
		})
	command.Short = "Propose rules that follow from the OpenAPI document of a version, in shadow"
	command.Long = "Propose rules that follow from the OpenAPI document of a version, in shadow, for\n" +
		"operations without a rule. --json prints them after the rules that the version\n" +
		"has, as postern rules set --file reads them."
	addJSONFlag(command)
	return command
}

func printProposal(t terminal, found contract.RuleProposal) error {
	if len(found.Rules) == 0 {
		_, err := fmt.Fprintln(t.out, "No further rules follow from the document.")
		return err
	}
	if found.Derived {
		_, err := fmt.Fprintln(t.out, "The document names no scopes. These are made of its paths:")
		if err != nil {
			return err
		}
	}
	err := table(t.out, func(row func(...string)) {
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
		if _, err := fmt.Fprintf(t.out, "No rule for %s: %s\n", one.Operation, one.Reason); err != nil {
			return err
		}
	}
	printWarnings(t.out, found.Warnings)
	return nil
}
