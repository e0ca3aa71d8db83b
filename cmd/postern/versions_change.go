package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/platform/fault"
)

func newVersionsRename(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "rename PROJECT VERSION NAME",
		Short: "Rename a version; its addresses change at once",
		Args:  exactly("PROJECT", "VERSION", "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			rename := func(ctx context.Context, api caller) (client.Version, error) {
				v, err := findVersion(ctx, api, args[0], args[1])
				if err != nil {
					return v, err
				}
				return api.IfMatch(v.ETag).RenameVersion(ctx, args[0], v.ID, args[2])
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			v, err := onProject(c.Context(), s, args[0], rename)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, v)
			}
			return printVersion(t, v)
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newEnvironmentsRename(t terminal) *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:   "rename PROJECT ENVIRONMENT NAME",
		Short: "Rename an environment; its address changes at once",
		Args:  exactly("PROJECT", "ENVIRONMENT", "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			rename := func(ctx context.Context, api caller) (client.Environment, error) {
				e, err := findPlace(ctx, api, args[0], version, args[1])
				if err != nil {
					return e, err
				}
				return api.IfMatch(e.ETag).RenameEnvironment(ctx, args[0], e.ID, args[2])
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			e, err := onProject(c.Context(), s, args[0], rename)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, e)
			}
			_, err = fmt.Fprintf(t.out, "%s now answers at %s.\n", e.Name, e.URL)
			return err
		},
	}
	addVersionFlag(command, &version)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// findPlace finds an environment of a version by name or id. The id of an environment needs no version
// beside it.
func findPlace(
	ctx context.Context, api caller, project, version, environment string,
) (client.Environment, error) {
	p, err := api.Project(ctx, project)
	if err != nil {
		return client.Environment{}, err
	}
	for _, v := range p.Versions {
		for _, e := range v.Environments {
			if e.ID == environment && (version == "" || version == v.Name || version == v.ID) {
				return e, nil
			}
		}
	}
	v, err := chooseVersion(p, project, version)
	if err != nil {
		return client.Environment{}, err
	}
	return findEnvironment(v, environment)
}

func newVersionsDelete(t terminal) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "delete PROJECT VERSION",
		Short: "Remove a version with its environments",
		Long:  "Remove a version with its environments.\n\n" + removalHelp,
		Args:  exactly("PROJECT", "VERSION"),
		RunE: func(c *cobra.Command, args []string) error {
			return removePlace(t, c, yes, args[0], args[1], "")
		},
	}
	addYesFlag(command, &yes)
	addServerFlag(command)
	return command
}

func newEnvironmentsDelete(t terminal) *cobra.Command {
	var yes bool
	var version string
	command := &cobra.Command{
		Use:   "delete PROJECT ENVIRONMENT",
		Short: "Remove an environment of a version",
		Long:  "Remove an environment of a version.\n\n" + removalHelp,
		Args:  exactly("PROJECT", "ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			return removePlace(t, c, yes, args[0], version, args[1])
		},
	}
	addYesFlag(command, &yes)
	addVersionFlag(command, &version)
	addServerFlag(command)
	return command
}

const removalHelp = `What called it in the last hour is shown first, by owner. API keys that open
nothing else are revoked. If there are such calls or keys, the command asks
before it continues; without a terminal it needs --yes.`

func addYesFlag(c *cobra.Command, yes *bool) {
	c.Flags().BoolVar(yes, "yes", false, "do not ask")
}

// removePlace removes a version or, if one is named, an environment. It shows what that
// stops and asks for confirmation if it stops anything.
func removePlace(t terminal, c *cobra.Command, yes bool, project, version, environment string) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	remove := func(ctx context.Context, api caller) (string, error) {
		v, err := findVersion(ctx, api, project, version)
		if err != nil {
			return "", err
		}
		if environment == "" {
			confirmed, err := confirmRemoval(ctx, t, api, yes, project, v.Name, "")
			if err != nil {
				return "", err
			}
			return "Version " + v.Name, api.DeleteVersion(ctx, project, v.ID, confirmed)
		}
		e, err := findEnvironment(v, environment)
		if err != nil {
			return "", err
		}
		confirmed, err := confirmRemoval(ctx, t, api, yes, project, v.Name, e.Name)
		if err != nil {
			return "", err
		}
		what := "Environment " + e.Name + " of version " + v.Name
		return what, api.DeleteEnvironment(ctx, project, v.ID, e.ID, confirmed)
	}
	what, err := onProject(c.Context(), s, project, remove)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "%s of %s is removed.\n", what, project)
	return err
}

// confirmRemoval shows what the removal stops, and asks if it stops anything. It reports
// whether the removal is confirmed.
func confirmRemoval(
	ctx context.Context, t terminal, api caller, yes bool, project, version, environment string,
) (bool, error) {
	found, err := api.Callers(ctx, project, version, environment)
	if err != nil {
		return false, err
	}
	if found.Calls == 0 && found.Keys == 0 && len(found.Hosts) == 0 {
		return yes, nil
	}
	if err := printCallers(t, found); err != nil || yes {
		return yes, err
	}
	if !t.asks() {
		return false, fault.New(fault.Conflict, "still_called", "not removed: send --yes to remove it anyway")
	}
	if !answered(t, "Remove it? [y/N] ", "y") {
		return false, fault.New(fault.Conflict, "still_called", "not removed")
	}
	return true, nil
}

func printCallers(t terminal, found client.Callers) error {
	if found.Keys > 0 {
		fmt.Fprintf(t.err, "API keys that open nothing else and are revoked: %d\n", found.Keys)
	}
	if len(found.Hosts) > 0 {
		fmt.Fprintf(t.err, "Host names that end: %s\n", strings.Join(found.Hosts, ", "))
	}
	if found.Calls == 0 {
		return nil
	}
	fmt.Fprintf(t.err, "Calls since %s: %d\n", when(&found.Since), found.Calls)
	return table(t.err, func(row func(...string)) {
		row("CALLS", "OWNER")
		for _, one := range found.Items {
			owner := one.Owner
			if owner == "" {
				owner = "(none)"
			}
			row(fmt.Sprint(one.Calls), owner)
		}
		if more := found.Owners - int64(len(found.Items)); more > 0 {
			row("", fmt.Sprintf("and %d more", more))
		}
	})
}
