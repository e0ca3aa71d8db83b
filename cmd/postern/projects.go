package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
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

// projectCommands returns the commands of projects, of their versions and environments, and of what happens there.
func projectCommands(t terminal) []*cobra.Command {
	return []*cobra.Command{newProjects(t), newProducts(t), newVersions(t), newEnvironments(t), newUpstreams(t),
		newDomains(t), newOpenAPI(t), newTransforms(t), newCORS(t), newUsage(t), newRequests(t), newWebhooks(t)}
}

func newProjects(t terminal) *cobra.Command {
	return family("projects", "List and change projects",
		newProjectsList(t),
		operationCommand(t, asProject, contract.GetProject,
			func(_ contract.ProjectPath, p contract.Project) error { return printProject(t, p) }),
		operationCommand(t, asProject, contract.UpdateProject,
			func(_ contract.ProjectUpdate, p contract.Project) error { return printProject(t, p) }),
		newProjectsDelete(t),
		operationCommand(t, asProject, contract.RestoreProject, func(_ contract.ProjectPath, p contract.Project) error {
			_, err := fmt.Fprintf(t.out, "%s is served again.\n", p.Name)
			return err
		}),
		operationCommand(t, asProject, contract.MoveProject, func(_ contract.ProjectMove, p contract.Project) error {
			_, err := fmt.Fprintf(t.out, "%s belongs to %s.\n", printable(p.Name), printable(p.Team))
			return err
		}),
	)
}

func newTakedown(t terminal) *cobra.Command {
	printed := func(x contract.Takedown) error {
		text := "%s is served again.\n"
		if x.Frozen != nil {
			text = "%s is taken down: calls get 403.\n"
		}
		_, err := fmt.Fprintf(t.out, text, x.Name)
		return err
	}
	command := family("takedown", "Stop serving projects of any team (operators only)",
		operationCommand(t, asProject, contract.TakeDownProject,
			func(_ contract.TakedownUpdate, x contract.Takedown) error { return printed(x) }),
		operationCommand(t, asProject, contract.LiftTakedown,
			func(_ contract.ProjectPath, x contract.Takedown) error { return printed(x) }),
	)
	command.Long = `Stop serving a project: its calls get 403 project_frozen until the takedown is
removed. Its team reads the reason, and can still export the project.

Operators are the first account and the accounts added with postern operators add.`
	return command
}

// newProjectsList merges the projects that each credential may read.
func newProjectsList(t terminal) *cobra.Command {
	var in contract.ProjectList
	var list []contract.Project
	op := contract.ListProjects.Operation
	op.Summary = "List the projects that your stored credentials can access"
	command := requestCommand(t, asAll, op, &in, func(c *cobra.Command, api *client.Client) error {
		found, err := collect(client.Each(c.Context(), api, contract.ListProjects, in))
		list = append(list, found...)
		return err
	})
	ask := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if err := ask(c, args); err != nil {
			return err
		}
		sortProjects(list, in.Sort)
		list = slices.CompactFunc(list, func(a, b contract.Project) bool { return a.ID == b.ID })
		if wantsJSON(c) {
			return printJSONList(t.out, list)
		}
		return table(t.out, func(row func(...string)) {
			row("NAME", "VERSION", "ACCESS", "ENVIRONMENTS", "ENDS UNLESS CLAIMED")
			for _, p := range list {
				for _, v := range p.Versions {
					row(
						p.Name,
						v.Name,
						listedAccess(p, v),
						environmentNames(v),
						when(p.ExpiresAt)+daysLeft(p.ExpiresAt),
					)
				}
			}
		})
	}
	addJSONFlag(command)
	return command
}

// asAll runs a command with every credential. One that is no longer valid, because its workspace was claimed or has
// ended, is reported and skipped if another one works.
func asAll(t terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	callers, err := s.callers()
	if err != nil {
		return err
	}
	refused := errors.New("no credential works")
	for _, one := range callers {
		err := run(one.Client)
		switch over := fault.KindOf(err) == fault.Unauthenticated; {
		case over && one.login:
			fmt.Fprintln(t.err, "The sign-in is over: run `postern login` again.")
		case over && one.project != "":
			fmt.Fprintf(t.err, "The workspace key of %s is no longer valid.\n", one.project)
		case err != nil:
			return err
		default:
			refused = nil
			continue
		}
		if refused != nil {
			refused = s.loginOver(&one, err)
		}
	}
	return refused
}

// listedAccess is the access mode of a version. Calls to a deleted project are refused.
func listedAccess(p contract.Project, v contract.Version) string {
	if p.Deleted != nil {
		return "in the bin until " + when(&p.Deleted.PurgeAt)
	}
	return v.RequestsAuth.Mode
}

func wantsJSON(c *cobra.Command) bool { return c.Flag("json").Value.String() == "true" }

func environmentNames(v contract.Version) string {
	var names []string
	for _, e := range v.Environments {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

// sortProjects puts what several credentials list in the order that the server has for each of them.
func sortProjects(list []contract.Project, order string) {
	by, reverse := strings.CutPrefix(order, "-")
	slices.SortFunc(list, func(a, b contract.Project) int {
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

func printProject(t terminal, p contract.Project) error {
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
			versionRows(row, v)
		}
		row("")
		for _, k := range p.KeyTypes {
			row("Key type "+k.Name, strings.Join(k.Scopes, " "))
		}
	})
}

func versionRows(row func(...string), v contract.Version) {
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

func accessOf(a contract.RequestsAuth) string {
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
