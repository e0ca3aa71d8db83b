package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newVersions(t terminal) *cobra.Command {
	return family("versions", "List, add, rename, remove and test the versions of a project",
		newVersionsList(t), newVersionsCreate(t), newVersionsRename(t), newVersionsDelete(t),
		newVersionsTestIssuer(t), newVersionsTestIntrospection(t))
}

func newVersionsList(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "list PROJECT",
		Short: "List the versions of a project",
		Args:  exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			p, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Project, error) {
				return api.Project(ctx, args[0])
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, p.Versions)
			}
			return table(t.out, func(row func(...string)) {
				row("VERSION", "ACCESS", "ENVIRONMENTS")
				for _, v := range p.Versions {
					row(v.Name, accessOf(v.RequestsAuth), environmentNames(v))
				}
			})
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newVersionsCreate(t terminal) *cobra.Command {
	in := client.NewVersion{Environments: map[string]client.EnvironmentTarget{}}
	var environments []string
	command := &cobra.Command{
		Use:   "create PROJECT VERSION",
		Short: "Add a version as a copy of another one",
		Long: `Add a version as a copy of another one: with its access policy, its address
ranges and its environments. From then on each version has policies of its own.`,
		Example: `  postern versions create shop 2.0.0
  postern versions create shop 2.0.0 --copy-from 1.0.0 --environment prod=https://v2.example.com`,
		Args: exactly("PROJECT", "VERSION"),
		RunE: func(c *cobra.Command, args []string) error {
			in.Name = args[1]
			for _, pair := range environments {
				name, target, ok := strings.Cut(pair, "=")
				if !ok {
					return usageError{fmt.Sprintf("--environment %q is not NAME=URL", pair)}
				}
				in.Environments[name] = client.EnvironmentTarget{Target: target}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			v, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Version, error) {
				return api.CreateVersion(ctx, args[0], in)
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, v)
			}
			return printVersion(t, v)
		},
	}
	command.Flags().StringVar(&in.CopyFrom, "copy-from", "", "version to copy (default: the newest)")
	command.Flags().StringArrayVar(&environments, "environment", nil, "environment of the new version, as NAME=URL; "+
		"replaces those of the copied version")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printVersion(t terminal, v client.Version) error {
	return details(t.out, func(row func(...string)) {
		row("Version", v.Name)
		row("Access", accessOf(v.RequestsAuth))
		for _, e := range v.Environments {
			row("Environment "+e.Name, e.URL)
			row("", "forwards to "+e.Target)
		}
	})
}
