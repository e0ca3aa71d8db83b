package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
)

func newEnvironments(t terminal) *cobra.Command {
	return family("environments", "List, add, rename and remove the environments of a version",
		newEnvironmentsList(t), newEnvironmentsCreate(t), newEnvironmentsRename(t), newEnvironmentsDelete(t))
}

func newEnvironmentsList(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "list PROJECT",
		Short: "List the environments of a project's versions",
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
				list := []client.Environment{}
				for _, v := range p.Versions {
					list = append(list, v.Environments...)
				}
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("VERSION", "ENVIRONMENT", "ADDRESS", "FORWARDS TO")
				for _, v := range p.Versions {
					for _, e := range v.Environments {
						row(v.Name, e.Name, e.URL, e.Target)
					}
				}
			})
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newEnvironmentsCreate(t terminal) *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:     "create PROJECT ENVIRONMENT URL",
		Short:   "Add an environment to a version",
		Example: "  postern environments create shop staging https://staging.example.com --version 1.0.0",
		Args:    exactly("PROJECT", "ENVIRONMENT", "URL"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			create := func(ctx context.Context, api caller) (client.Environment, error) {
				v, err := findVersion(ctx, api, args[0], version)
				if err != nil {
					return client.Environment{}, err
				}
				return api.CreateEnvironment(ctx, args[0], v.ID, args[1], args[2])
			}
			e, err := onProject(c.Context(), s, args[0], create)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, e)
			}
			_, err = fmt.Fprintf(t.out, "%s answers at %s and forwards to %s.\n", e.Name, e.URL, e.Target)
			return err
		},
	}
	addVersionFlag(command, &version)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func addVersionFlag(c *cobra.Command, version *string) {
	c.Flags().StringVar(version, "version", "", "version of the project, where it has several")
}
