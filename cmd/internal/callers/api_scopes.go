package callers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newAPIScopes(t terminal.Terminal) *cobra.Command {
	return terminal.Family("api-scopes",
		"Manage a project's API scopes and audience",
		newAPIScopesShow(t),
		newAPIScopesSet(t),
	)
}

func newAPIScopesShow(t terminal.Terminal) *cobra.Command {
	return cli.OperationCommand(t, cli.AsProject, contract.GetAPIScopes,
		func(_ contract.ProjectPath, found contract.SavedAPI) error { return printAPIScopes(t, found) })
}

func newAPIScopesSet(t terminal.Terminal) *cobra.Command {
	var audience string
	var scopes, removed []string
	command := &cobra.Command{
		Use:   "set PROJECT",
		Short: "Change a project's API scopes and audience",
		Long:  "Change a project's API scopes and audience. Scopes that you don't name stay\nthe same.",
		Example: "  postern api-scopes set shop --audience https://api.example.com " +
			"--scope 'orders:read=read your orders' --scope orders:write --remove invoices:read",
	}
	command.PreRunE = func(c *cobra.Command, _ []string) error {
		if !c.Flags().Changed("audience") && len(scopes)+len(removed) == 0 {
			return cli.NothingToChange("--audience", "--scope", "--remove")
		}
		var names []string
		for _, text := range scopes {
			name, _, _ := strings.Cut(text, "=")
			names = append(names, name)
		}
		return terminal.Once("scope", names)
	}
	terminal.NamePointer(command, "/audience", "--audience")
	terminal.NamePointer(command, "/scopes", "--scope")
	flags := command.Flags()
	flags.StringVar(&audience, "audience", "", "audience of the project's tokens: the URI of the API, such as "+
		"https://api.example.com. Use \"\" for none")
	flags.StringArrayVar(&scopes, "scope", nil, "scope to add or describe, as NAME or NAME=DESCRIPTION (repeatable)")
	flags.StringSliceVar(&removed, "remove", nil, "name of a scope to remove (repeatable)")
	edit := func(path contract.ProjectPath, now contract.SavedAPI, _ []string) (*contract.APIUpdate, error) {
		if flags.Changed("audience") {
			now.Audience = audience
		}
		now.Scopes = changedAPIScopes(now.Scopes, scopes, removed)
		return &contract.APIUpdate{
			ProjectPath: path, Condition: contract.Condition{IfMatch: now.ETag}, Body: now.API,
		}, nil
	}
	return cli.EditCommand(t, command, cli.ProjectOf, contract.GetAPIScopes, edit, contract.SetAPIScopes,
		func(saved contract.SavedAPI) error { return printAPIScopes(t, saved) }, "PROJECT")
}

// changedAPIScopes adds scopes, written as NAME or NAME=DESCRIPTION, and removes others. A
// name without a description keeps the one it has.
func changedAPIScopes(now []contract.APIScope, added, removed []string) []contract.APIScope {
	out := slices.DeleteFunc(slices.Clone(now), func(one contract.APIScope) bool {
		return slices.Contains(removed, one.Name)
	})
	for _, text := range added {
		name, description, _ := strings.Cut(text, "=")
		same := func(one contract.APIScope) bool { return one.Name == name }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Description = cmp.Or(description, out[i].Description)
			continue
		}
		out = append(out, contract.APIScope{Name: name, Description: description})
	}
	return out
}

func printAPIScopes(t terminal.Terminal, found contract.SavedAPI) error {
	if _, err := fmt.Fprintf(t.Out, "Audience: %s\n", cmp.Or(found.Audience, "none")); err != nil {
		return err
	}
	if len(found.Scopes) == 0 {
		_, err := fmt.Fprintln(t.Out, "No API scopes.")
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("SCOPE", "DESCRIPTION")
		for _, one := range found.Scopes {
			row(one.Name, one.Description)
		}
	})
}
