package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newProjectsUpdate(t terminal) *cobra.Command {
	var displayName, fallback, product string
	var pairs, cleared []string
	command := &cobra.Command{
		Use:   "update PROJECT",
		Short: "Change a project's names, product and limits",
		Long: `Change a project's names, product and limits. New limits for key, owner,
ip or project replace all earlier ones for it. When a project leaves its product,
the product's keys stop working in it, except those created in it.`,
		Example: `  postern projects update shop --limit key:minute=100 --limit project:day=100000
  postern projects update shop --no-limits ip --product store`,
		Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			var change client.ProjectChange
			var err error
			if change.Limits, err = readProjectLimits(pairs, cleared); err != nil {
				return err
			}
			if c.Flags().Changed("display-name") {
				change.DisplayName = &displayName
			}
			if c.Flags().Changed("fallback-owner") {
				change.FallbackOwner = &fallback
			}
			if c.Flags().Changed("product") {
				name := client.Nullable(product)
				change.Product = &name
			}
			if change == (client.ProjectChange{}) {
				return usageError{"nothing to change: give --limit, --no-limits, --product, --display-name or " +
					"--fallback-owner"}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			p, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Project, error) {
				return api.UpdateProject(ctx, args[0], change)
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, p)
			}
			return printProject(t, p)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&pairs, "limit", nil, "calls that a window admits, as WHAT:WINDOW=CALLS, where WHAT is "+
		"key, owner, ip or project")
	flags.StringSliceVar(&cleared, "no-limits", nil, "remove the limits of key, owner, ip or project")
	flags.StringVar(&product, "product", "", "put the project into a product; empty takes it out")
	flags.StringVar(&displayName, "display-name", "", "name for people")
	flags.StringVar(&fallback, "fallback-owner", "", "owner that calls without a key are counted for where keyless is "+
		"owner_fallback")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// readProjectLimits returns nil without flags.
func readProjectLimits(pairs, cleared []string) (*contract.ProjectLimitsChange, error) {
	if len(pairs)+len(cleared) == 0 {
		return nil, nil
	}
	var out contract.ProjectLimitsChange
	fields := map[string]**contract.Limits{
		"key": &out.Key, "owner": &out.Owner, "ip": &out.IP, "project": &out.Project,
	}
	given := map[string][]string{}
	for _, pair := range pairs {
		what, rest, ok := strings.Cut(pair, ":")
		if !ok || fields[what] == nil {
			return nil, usageError{fmt.Sprintf("--limit %q is not WHAT:WINDOW=CALLS, such as key:minute=100; WHAT "+
				"is key, owner, ip or project", pair)}
		}
		given[what] = append(given[what], rest)
	}
	for what, rest := range given {
		limits, err := readLimits(rest)
		if err != nil {
			return nil, err
		}
		*fields[what] = new(contract.Limits(limits))
	}
	for _, what := range cleared {
		if fields[what] == nil || given[what] != nil {
			return nil, usageError{fmt.Sprintf("--no-limits %q is not one of key, owner, ip and project, or has a "+
				"--limit too", what)}
		}
		*fields[what] = &contract.Limits{}
	}
	return &out, nil
}
