package callers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newAPIScopes(t terminal.Terminal) *cobra.Command {
	return terminal.Family("api-scopes",
		"Show and set the audience and scopes that app clients can ask for at a project",
		newAPIScopesShow(t),
		newAPIScopesSet(t),
	)
}

func newAPIScopesShow(t terminal.Terminal) *cobra.Command {
	command := cli.OperationCommand(t, cli.AsProject, contract.GetAPIScopes,
		func(_ contract.ProjectPath, found contract.SavedAPI) error { return printAPIScopes(t, found) })
	command.Short = "Show a project's audience and API scopes"
	return command
}

func newAPIScopesSet(t terminal.Terminal) *cobra.Command {
	var audience string
	var scopes, removed []string
	command := &cobra.Command{
		Use:   "set PROJECT",
		Short: "Set a project's audience, and add, describe or remove API scopes",
		Example: "  postern api-scopes set shop --audience https://api.example.com " +
			"--scope 'orders:read=read your orders' --scope orders:write --remove invoices:read",
		Args: terminal.Exactly("PROJECT"),
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed("audience") && len(scopes)+len(removed) == 0 {
			return terminal.UsageError("nothing to change: give --audience, --scope or --remove")
		}
		return cli.AsProject(t, c, func(api *client.Client) error {
			path := contract.ProjectPath{Project: args[0]}
			now, err := client.Do(c.Context(), api, contract.GetAPIScopes, path)
			if err != nil {
				return err
			}
			if c.Flags().Changed("audience") {
				now.Audience = audience
			}
			now.Scopes = changedAPIScopes(now.Scopes, scopes, removed)
			now, err = client.Do(c.Context(), api, contract.SetAPIScopes, contract.APIUpdate{
				ProjectPath: path, Condition: contract.Condition{IfMatch: now.ETag}, Body: now.API,
			})
			if err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, now)
			}
			return printAPIScopes(t, now)
		})
	}
	flags := command.Flags()
	flags.StringVar(&audience, "audience", "", "URI of the API, such as https://api.example.com; empty for none")
	flags.StringArrayVar(&scopes, "scope", nil, "add a scope, as NAME or NAME=DESCRIPTION, repeatable")
	flags.StringSliceVar(&removed, "remove", nil, "remove a scope, repeatable")
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
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
