package main

import (
	"context"
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

// onDocument completes a command on the OpenAPI document of a version.
func onDocument[Out any](
	t terminal, command *cobra.Command,
	ask func(*cobra.Command, []string) func(context.Context, caller) (Out, error), show func(Out) error,
) *cobra.Command {
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		found, err := onProject(c.Context(), s, args[0], ask(c, args))
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, found)
		}
		return show(found)
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newOpenAPIShow(t terminal) *cobra.Command {
	return onDocument(t, &cobra.Command{
		Use:   "show PROJECT VERSION",
		Short: "Show the operations of a version's OpenAPI document",
		Args:  exactly("PROJECT", "VERSION"),
	}, func(_ *cobra.Command, args []string) func(context.Context, caller) (client.OpenAPI, error) {
		return func(ctx context.Context, api caller) (client.OpenAPI, error) {
			return api.OpenAPI(ctx, args[0], args[1])
		}
	}, func(found client.OpenAPI) error {
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
	})
}

func newOpenAPISet(t terminal) *cobra.Command {
	var dryRun bool
	command := &cobra.Command{
		Use:   "set PROJECT VERSION FILE|URL",
		Short: "Import an OpenAPI document, JSON or YAML, and show which operations change",
		Example: "  postern openapi set shop 1.0.0 openapi.yaml --dry-run\n" +
			"  postern openapi set shop 1.0.0 https://api.example.com/openapi.json",
		Args: exactly("PROJECT", "VERSION", "FILE|URL"),
	}
	command.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would change")
	return onDocument(t, command,
		func(c *cobra.Command, args []string) func(context.Context, caller) (client.OpenAPI, error) {
			return func(ctx context.Context, api caller) (client.OpenAPI, error) {
				if isWebAddress(args[2]) {
					return api.FetchOpenAPI(ctx, args[0], args[1], args[2], dryRun)
				}
				text, err := readDocument(c.InOrStdin(), args[2])
				if err != nil {
					return client.OpenAPI{}, err
				}
				return api.SetOpenAPI(ctx, args[0], args[1], text, dryRun)
			}
		}, func(found client.OpenAPI) error { return printChanges(t, found) })
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

func printChanges(t terminal, found client.OpenAPI) error {
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
	command := &cobra.Command{
		Use:   "remove PROJECT VERSION",
		Short: "Remove the OpenAPI document of a version; exports have a generated one again",
		Args:  exactly("PROJECT", "VERSION"),
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		_, err = onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (struct{}, error) {
			return struct{}{}, api.RemoveOpenAPI(ctx, args[0], args[1])
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.out, "Version %s of %s has no OpenAPI document any more.\n", args[1], args[0])
		return err
	}
	addServerFlag(command)
	return command
}

func newOpenAPIRules(t terminal) *cobra.Command {
	return onDocument(t, &cobra.Command{
		Use:   "rules PROJECT VERSION",
		Short: "Propose rules that follow from the OpenAPI document of a version, in shadow",
		Long: "Propose rules that follow from the OpenAPI document of a version, in shadow, for\n" +
			"operations without a rule. --json prints them behind the rules that the version\n" +
			"has, as postern rules set --file reads them.",
		Args: exactly("PROJECT", "VERSION"),
	}, func(c *cobra.Command, args []string) func(context.Context, caller) (any, error) {
		return func(ctx context.Context, api caller) (any, error) {
			found, err := api.ProposedRules(ctx, args[0], args[1])
			if err != nil || !wantsJSON(c) {
				return found, err
			}
			now, err := client.Do(ctx, api.Client, contract.GetRules, contract.VersionPath{
				ProjectPath: contract.ProjectPath{Project: args[0]}, Version: args[1],
			})
			now.List = append(now.List, found.Rules...)
			printWarnings(t.err, found.Warnings) // the JSON is the input of rules set
			return now.Rules, err
		}
	}, func(found any) error { return printProposal(t, found.(client.ProposedRules)) })
}

func printProposal(t terminal, found client.ProposedRules) error {
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
