package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/platform/fault"
)

// family returns a command that only groups others.
func family(use, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	command.AddCommand(commands...)
	return command
}

func newProjects(t terminal) *cobra.Command {
	return family("projects", "List and change projects",
		newProjectsList(t), newProjectsShow(t), newProjectsUpdate(t), newProjectsSetTarget(t), newProjectsSetAccess(t),
		newProjectsDelete(t), newProjectsRestore(t), newProjectsMove(t))
}

func newProjectsList(t terminal) *cobra.Command {
	var options client.ListOptions
	command := &cobra.Command{
		Use:   "list",
		Short: "List the projects that your stored credentials can access",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			list, err := allProjects(c.Context(), t, s, options)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("NAME", "VERSION", "ACCESS", "ENVIRONMENTS", "ENDS UNLESS CLAIMED")
				for _, p := range list {
					for _, v := range p.Versions {
						row(
							p.Name, v.Name, listedAccess(p, v), environmentNames(v),
							when(p.ExpiresAt)+daysLeft(p.ExpiresAt),
						)
					}
				}
			})
		},
	}
	listFlags(command, &options, "name or display name", "name", "created")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// listedAccess is who may call a version. Calls to a deleted project are refused.
func listedAccess(p client.Project, v client.Version) string {
	if p.Deleted != nil {
		return "in the bin until " + when(&p.Deleted.PurgeAt)
	}
	return v.RequestsAuth.Mode
}

func wantsJSON(c *cobra.Command) bool { return c.Flag("json").Value.String() == "true" }

func environmentNames(v client.Version) string {
	var names []string
	for _, e := range v.Environments {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

// allProjects merges the projects that each credential may read. A credential that is no
// longer valid, because its workspace was claimed or has ended, is reported and skipped
// if another one works.
func allProjects(
	ctx context.Context, t terminal, s session, options client.ListOptions,
) ([]client.Project, error) {
	callers, err := s.callers()
	if err != nil {
		return nil, err
	}
	var list []client.Project
	var refused error
	answered := false
	for _, c := range callers {
		found, err := collect(c.Projects(ctx, options))
		if fault.KindOf(err) == fault.Unauthenticated && (c.project != "" || c.login) {
			refused = s.loginOver(&c, err)
			if c.login {
				fmt.Fprintln(t.err, "The sign-in is over: run `postern login` again.")
			} else {
				fmt.Fprintf(t.err, "The workspace key of %s is no longer valid.\n", c.project)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		answered = true
		list = append(list, found...)
	}
	if !answered {
		return nil, refused
	}
	sortProjects(list, options.Sort)
	return slices.CompactFunc(list, func(a, b client.Project) bool { return a.ID == b.ID }), nil
}

// sortProjects puts what several credentials list in the order that the server has for each of them.
func sortProjects(list []client.Project, order string) {
	by, reverse := strings.CutPrefix(order, "-")
	slices.SortFunc(list, func(a, b client.Project) int {
		byID := cmp.Compare(a.ID, b.ID) // which is by age
		switch by {
		case "created":
			return byID
		case "name":
			return cmp.Or(cmp.Compare(strings.ToLower(a.DisplayName), strings.ToLower(b.DisplayName)), byID)
		}
		return cmp.Or(cmp.Compare(a.Name, b.Name), byID)
	})
	if reverse {
		slices.Reverse(list)
	}
}

// collect returns the values of a sequence up to its first error.
func collect[T any](items func(func(T, error) bool)) ([]T, error) {
	var list []T
	for item, err := range items {
		if err != nil {
			return list, err
		}
		list = append(list, item)
	}
	return list, nil
}

func newProjectsShow(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "show PROJECT",
		Short: "Show a project, by name or id",
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
				return printJSON(t.out, p)
			}
			return printProject(t, p)
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printProject(t terminal, p client.Project) error {
	return details(t.out, func(row func(...string)) {
		row("Name", p.Name)
		if p.DisplayName != "" && p.DisplayName != p.Name {
			row("Display name", p.DisplayName)
		}
		row("Id", p.ID)
		row("Created", when(&p.CreatedAt))
		if p.ExpiresAt != nil {
			row("Ends unless claimed", when(p.ExpiresAt)+daysLeft(p.ExpiresAt))
		}
		if p.Frozen != nil {
			row("Taken down", when(&p.Frozen.Since)+" by the operators: "+p.Frozen.Reason)
		}
		if p.Deleted != nil {
			row("Deleted", when(&p.Deleted.Since)+", in the bin until "+when(&p.Deleted.PurgeAt))
		}
		if p.Product != nil {
			row("Product", *p.Product)
		}
		row("Tenants", strings.Join(p.Tenants, ", "))
		row("Limits per key", limitsText(p.Limits.Key))
		row("Limits per owner", limitsText(p.Limits.Owner))
		row("Limits per ip", limitsText(p.Limits.IP))
		row("Limits of all calls", limitsText(p.Limits.Project))
		for _, v := range p.Versions {
			row("")
			row("Version", v.Name)
			row("Access", accessOf(v.RequestsAuth))
			if len(v.IP.Allow) > 0 {
				row("Only from", strings.Join(v.IP.Allow, ", "))
			}
			if len(v.IP.Deny) > 0 {
				row("Not from", strings.Join(v.IP.Deny, ", "))
			}
			for _, e := range v.Environments {
				row("Environment "+e.Name, e.URL)
				row("", "forwards to "+e.Target)
			}
		}
		row("")
		for _, k := range p.KeyTypes {
			row("Key type "+k.Name, strings.Join(k.Scopes, " "))
		}
	})
}

func accessOf(a client.Auth) string {
	text := a.Mode
	if len(a.Methods) > 0 {
		text += " by " + strings.Join(a.Methods, ", ")
	}
	if a.JWT != nil {
		for _, pair := range a.JWT.AllowedPairs {
			text += "; tokens of " + pair.Line()
		}
	}
	if a.Opaque != nil {
		text += "; opaque tokens by " + a.Opaque.Line()
	}
	if a.Keyless != "" {
		text += "; calls without a key: " + a.Keyless
	}
	return text
}
