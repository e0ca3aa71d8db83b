// Package projects has the commands of projects, versions and environments: how they are created, what they serve and
// require, and what happened there. It owns what these commands ask and print. Package cli derives them from the
// contract; who may call is in package callers, and exports are in package export.
package projects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/core/policy"
)

func newProjects(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"projects",
		"Manage projects",
		newProjectsList(t),
		cli.OperationCommand(t, cli.AsProject, contract.GetProject,
			func(_ contract.ProjectPath, p contract.Project) error { return printProject(t, p) }),
		newProjectsUpdate(t),
		newProjectsDelete(t),
		newProjectsRestore(t),
		newProjectsMove(t),
		terminal.Family("users", "List the users of a project's tenants",
			cli.ListCommand(t, cli.AsProject, contract.ListProjectUsers,
				[]string{"ID", "EMAIL", "NAME", "STATE", "TENANT", "LAST LOGIN"},
				func(u contract.User) []string {
					return []string{u.ID, u.Email, u.Name, u.State, u.Tenant, terminal.OrNever(u.LastLoginAt)}
				})),
	)
}

func newProjectsUpdate(t terminal.Terminal) *cobra.Command {
	command := cli.OperationCommand(t, cli.AsProject, contract.UpdateProject,
		func(_ contract.ProjectUpdate, p contract.Project) error { return printProject(t, p) })
	command.Long = `Change a project's display name, fallback owner, product or limits. Each limits flag
replaces all limits of that kind. If you remove a project from its product, the
product's keys stop working in the project, except keys that were created there.`
	command.Example += "\n  postern projects update shop --ip-limits none --product store"
	return command
}

func newProjectsMove(t terminal.Terminal) *cobra.Command {
	command := cli.OperationCommand(t, cli.AsProject, contract.MoveProject,
		func(_ contract.ProjectMove, p contract.Project) error {
			_, err := fmt.Fprintf(t.Out, "%s now belongs to %s.\n", terminal.Printable(p.Name),
				terminal.Printable(p.Team))
			return err
		})
	command.Long = `Move a project to another team. You must be an owner of both teams. Calls aren't
interrupted. Keys, usage, exports and the project's own tenant move with it. The team's
webhooks, products and tenants don't, so you can't move a project that uses one of
the team's products or tenants.`
	command.Example = "  postern teams list\n" + command.Example
	return command
}

// Commands returns the commands of projects, of their versions and environments, and of what happens there.
func Commands(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newProjects(t), newProducts(t), newVersions(t), newEnvironments(t), newUpstreams(t),
		newDomains(t), newOpenAPI(t), newTransforms(t), newCORS(t), newUsage(t), newRequests(t), newWebhooks(t)}
}

// NewTakedown returns the operators' command that stops serving a project.
func NewTakedown(t terminal.Terminal) *cobra.Command {
	printed := func(x contract.Takedown) error {
		text := "%s isn't taken down.\n" // and maybe it wasn't before: the API doesn't say
		if x.Frozen != nil {
			text = "%s is taken down. Calls get 403.\n"
		}
		_, err := fmt.Fprintf(t.Out, text, x.Name)
		return err
	}
	command := terminal.Family("takedown", "Take down any team's projects (operators only)",
		cli.OperationCommand(t, cli.AsProject, contract.TakeDownProject,
			func(_ contract.TakedownUpdate, x contract.Takedown) error { return printed(x) }),
		cli.OperationCommand(t, cli.AsProject, contract.LiftTakedown,
			func(_ contract.ProjectPath, x contract.Takedown) error { return printed(x) }),
	)
	command.Long = `Take down any team's project. Calls get 403 project_frozen until you lift the
takedown. The project's team can read the reason and can still export the project.

The first account is an operator, and so is every account added with postern
operators add.`
	return command
}

// newProjectsList merges the projects that each credential may read.
func newProjectsList(t terminal.Terminal) *cobra.Command {
	var in contract.ProjectList
	var list []contract.Project
	var most int
	var others bool
	op := contract.ListProjects.Operation
	command := cli.RequestCommand(t, cli.AsAll, op, &in, func(c *cobra.Command, api *client.Client) error {
		found, more, err := client.First(c.Context(), api, contract.ListProjects, in, most)
		list, others = append(list, found.Items...), others || more
		return err
	})
	ask := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if err := ask(c, args); err != nil {
			return err
		}
		sortProjects(list, in.Sort)
		list = slices.CompactFunc(list, func(a, b contract.Project) bool { return a.ID == b.ID })
		if most > 0 && len(list) > most { // of several credentials
			list, others = list[:most], true
		}
		if others {
			defer cli.SayMore(t, most, "")
		}
		return terminal.Paged(t, func() error {
			if terminal.WantsJSON(c) {
				return terminal.PrintJSONList(t.Out, list)
			}
			return printProjects(t, list)
		})
	}
	cli.LimitFlag(command, &most)
	terminal.AddJSONFlag(command)
	return command
}

func printProjects(t terminal.Terminal, list []contract.Project) error {
	return terminal.Table(t.Out, func(row func(...string)) {
		row("NAME", "VERSION", "ACCESS", "ENVIRONMENTS", "EXPIRES UNLESS CLAIMED")
		for _, p := range list {
			for _, v := range p.Versions {
				row(p.Name, v.Name, listedAccess(p, v), environmentNames(v),
					terminal.When(p.ExpiresAt)+terminal.DaysLeft(p.ExpiresAt))
			}
		}
	})
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

// listedAccess says who can call a version. Calls to a deleted project are refused.
func listedAccess(p contract.Project, v contract.Version) string {
	if p.Deleted != nil {
		return "in the trash until " + terminal.When(&p.Deleted.PurgeAt)
	}
	return accessOf(v.RequestsAuth)
}

func printProject(t terminal.Terminal, p contract.Project) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Name", p.Name)
		if p.DisplayName != "" && p.DisplayName != p.Name {
			row("Display name", p.DisplayName)
		}
		row("ID", p.ID)
		row("Created", terminal.When(&p.CreatedAt))
		if p.ExpiresAt != nil {
			row("Expires unless claimed", terminal.When(p.ExpiresAt)+terminal.DaysLeft(p.ExpiresAt))
		}
		if p.Frozen != nil {
			row("Taken down", terminal.When(&p.Frozen.Since)+" by the operators: "+p.Frozen.Reason)
		}
		if p.Deleted != nil {
			row("Deleted", terminal.When(&p.Deleted.Since)+", in the trash until "+terminal.When(&p.Deleted.PurgeAt))
		}
		if p.Product != nil {
			row("Product", *p.Product)
		}
		row("Tenants", strings.Join(p.Tenants, ", "))
		row("Limits per key", cli.LimitsText(p.Limits.Key))
		row("Limits per owner", cli.LimitsText(p.Limits.Owner))
		row("Limits per IP", cli.LimitsText(p.Limits.IP))
		row("Limits of all calls", cli.LimitsText(p.Limits.Project))
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

func environmentNames(v contract.Version) string {
	var names []string
	for _, e := range v.Environments {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

func versionRows(row func(...string), v contract.Version) {
	row("Version", v.Name)
	row("Access", accessOf(v.RequestsAuth))
	if len(v.IP.Allow) > 0 {
		row("Allowed from", strings.Join(v.IP.Allow, ", "))
	}
	if len(v.IP.Deny) > 0 {
		row("Denied from", strings.Join(v.IP.Deny, ", "))
	}
	for _, e := range v.Environments {
		row("Environment "+e.Name, e.URL)
		row("", "forwards to "+e.Target)
	}
}

func accessOf(a contract.RequestsAuth) string {
	var credentials []string
	for _, method := range a.Methods {
		credentials = append(credentials, credentialNames[method])
	}
	text := a.Mode
	if a.Mode == contract.Authenticate {
		text = "requires " + english.WordSeries(credentials, "or")
	} else if len(credentials) > 0 {
		text += ", but checks " + english.WordSeries(credentials, "or") + " if the call has one"
	}
	if a.JWT != nil {
		for _, pair := range a.JWT.AllowedPairs {
			text += "; tokens from " + pair.Line()
		}
	}
	if a.Opaque != nil {
		text += "; opaque tokens checked by " + a.Opaque.Line()
	}
	if a.Allows(contract.MethodAPIKey) && !a.APIKey.IsDefault() {
		text += "; keys " + policy.KeyPlaceText(a.APIKey)
	}
	if a.SendsMetadata() {
		text += "; metadata of keys is sent upstream"
	}
	if a.Keyless == contract.KeylessOwnerFallback {
		text += "; calls without a key belong to the fallback owner"
	}
	return text
}

// credentialNames are what people call the methods of requests_auth.
var credentialNames = map[string]string{
	contract.MethodAPIKey: "an API key",
	contract.MethodJWT:    "a JWT",
	contract.MethodOpaque: "an opaque token",
}
