package callers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// People returns the commands of tenants and of the people in them.
func People(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newTenants(t), newUsers(t), newGroups(t), newGroupMappings(t)}
}

func newUsers(t terminal.Terminal) *cobra.Command {
	return terminal.Family("users", "Manage tenants' users",
		cli.ListCommand(t, cli.AsHolder, contract.ListUsers, []string{"ID", "EMAIL", "NAME", "STATE", "LAST LOGIN"},
			func(u contract.User) []string {
				return []string{u.ID, u.Email, u.Name, u.State, terminal.OrNever(u.LastLoginAt)}
			}),
		cli.FactsCommand(t, cli.AsHolder, contract.CreateUser, userFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.GetUser, userFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.UpdateUser, userFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.FreezeUser, userFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.UnfreezeUser, userFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.CreateUserInvitation, func(i contract.UserInvitation) [][2]string {
			return [][2]string{
				{"Link", i.URL.Reveal()},
				{"", "Copy the link now. You won't see it again."},
				{"Expires", terminal.When(&i.ExpiresAt)},
			}
		}),
		cli.DoneCommand(t, cli.AsHolder, contract.DeleteUser, "Deleted %s."),
		newUserSessions(t),
		newConsents(t),
	)
}

func userFacts(u contract.User) [][2]string {
	facts := [][2]string{
		{"User", u.Email},
		{"ID", u.ID},
		{"Name", u.Name},
		{"State", u.State},
		{"Last login", terminal.OrNever(u.LastLoginAt)},
	}
	for _, one := range u.Identities {
		facts = append(facts, [2]string{"Identity", one.Subject + " of " + one.Issuer})
	}
	for _, g := range u.Groups {
		role := "through a nested group"
		if g.IsDirect() {
			role = *g.Role
		}
		facts = append(facts, [2]string{"Group", g.Name + " (" + role + ")"})
	}
	return facts
}

func newUserSessions(t terminal.Terminal) *cobra.Command {
	return terminal.Family("sessions", "Manage a user's sessions",
		cli.ListCommand(t, cli.AsHolder, contract.ListUserSessions,
			[]string{"ID", "APP CLIENT", "PROVIDER", "SIGNED IN", "LAST SEEN", "BROWSER"},
			func(s contract.UserSession) []string {
				return []string{s.ID, s.ClientName, s.Provider, terminal.When(&s.CreatedAt),
					terminal.OrNever(s.LastSeenAt), s.UserAgent}
			}),
		cli.DoneCommand(t, cli.AsHolder, contract.EndUserSession, "Ended %s."),
		cli.FactsCommand(t, cli.AsHolder, contract.EndUserSessions, func(s contract.EndedSessions) [][2]string {
			return [][2]string{{"Sessions ended", strconv.FormatInt(s.Ended, 10)}}
		}),
	)
}

func newConsents(t terminal.Terminal) *cobra.Command {
	return terminal.Family("consents", "Manage a user's consents",
		cli.ListCommand(t, cli.AsHolder, contract.ListConsents, []string{"APP CLIENT", "ID", "SCOPES", "SINCE"},
			func(c contract.Consent) []string {
				return []string{c.ClientName, c.Client, strings.Join(c.Scopes, " "), terminal.When(&c.CreatedAt)}
			}),
		cli.DoneCommand(t, cli.AsHolder, contract.WithdrawConsent, "Withdrew the consent for %s."),
	)
}

func newGroups(t terminal.Terminal) *cobra.Command {
	set := cli.FactsCommand(t, cli.AsHolder, contract.SetGroupMember, groupFacts)
	terminal.NamePointer(set, "/members", "USER")
	return terminal.Family("groups", "Manage tenants' groups",
		cli.ListCommand(t, cli.AsHolder, contract.ListGroups,
			[]string{"ID", "NAME", "DISPLAY NAME", "MEMBERS", "APP OWNERS"},
			func(g contract.Group) []string {
				return []string{g.ID, g.Name, g.DisplayName, strconv.FormatInt(g.Members, 10),
					strconv.FormatInt(g.Owners, 10)}
			}),
		cli.FactsCommand(t, cli.AsHolder, contract.CreateGroup, groupFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.GetGroup, groupFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.UpdateGroup, groupFacts),
		cli.DoneCommand(t, cli.AsHolder, contract.DeleteGroup, "Deleted %s."),
		terminal.Family(
			"members",
			"Manage the direct members of a group",
			cli.ListCommand(t, cli.AsHolder, contract.ListGroupMembers,
				[]string{"USER", "EMAIL", "NAME", "STATE", "ROLE"},
				func(m contract.GroupMember) []string {
					return []string{m.User, m.Email, m.Name, m.State, m.Role}
				},
			),
			set,
			cli.DoneCommand(t, cli.AsHolder, contract.RemoveGroupMember, "%s is no longer in the group."),
		),
		terminal.Family(
			"owners",
			"Manage the app owners in a group",
			cli.ListCommand(t, cli.AsHolder, contract.ListGroupOwners, []string{"OWNER", "ROLE", "HAS KEYS"},
				func(o contract.GroupOwner) []string {
					return []string{o.Owner, o.Role, strconv.FormatBool(o.HasKeys)}
				},
			),
			cli.FactsCommand(t, cli.AsHolder, contract.SetGroupOwner, groupFacts),
			cli.DoneCommand(t, cli.AsHolder, contract.RemoveGroupOwner, "%s is no longer in the group."),
		),
		cli.FactsCommand(t, cli.AsHolder, contract.NestGroup, groupFacts),
		cli.DoneCommand(t, cli.AsHolder, contract.UnnestGroup, "%s is no longer nested in the group."),
	)
}

func groupFacts(g contract.Group) [][2]string {
	facts := [][2]string{
		{"Group", g.Name},
		{"ID", g.ID},
		{"Display name", g.DisplayName},
		{"Members", strconv.FormatInt(g.Members, 10)},
		{"App owners", strconv.FormatInt(g.Owners, 10)},
	}
	for _, child := range g.Children {
		facts = append(facts, [2]string{"Contains", child.Name + " (" + child.ID + ")"})
	}
	for _, parent := range g.Parents {
		facts = append(facts, [2]string{"Is in", parent.Name + " (" + parent.ID + ")"})
	}
	return facts
}

func newGroupMappings(t terminal.Terminal) *cobra.Command {
	return terminal.Family("group-mappings", "Manage a provider's group mappings",
		newGroupMappingsList(t), newGroupMappingsAdd(t), newGroupMappingsRemove(t))
}

func newGroupMappingsList(t terminal.Terminal) *cobra.Command {
	var in contract.ProviderPath
	var most int
	op := contract.GetGroupMappings
	command := cli.RequestCommand(t, cli.AsHolder, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		found, err := client.Do(c.Context(), api, op, in)
		if err != nil {
			return err
		}
		if most > 0 && len(found.Mappings) > most {
			found.Mappings = found.Mappings[:most]
			defer cli.SayMore(t, most, "")
		}
		if terminal.WantsJSON(c) {
			return terminal.PrintJSON(t.Out, found)
		}
		return printGroupMappings(t, found)
	})
	cli.LimitFlag(command, &most)
	terminal.AddJSONFlag(command)
	return command
}

func newGroupMappingsAdd(t terminal.Terminal) *cobra.Command {
	return changingGroupMappings(t, &cobra.Command{
		Use:   "add PROVIDER CLAIM VALUE GROUP",
		Short: "Add a mapping from a claim value to a group",
		Long: `Add a mapping from a claim value to a group. Users whose claim has the value join the
group at their next sign-in.`,
		Example: "  postern group-mappings add idp_… groups /billing billing\n" +
			"  postern group-mappings add idp_… realm_access.roles admin- admins --prefix\n" +
			"  postern group-mappings add idp_… teams acme/sre on-call",
	}, func(now contract.GroupMappings, one contract.GroupMapping) ([]contract.GroupMapping, error) {
		return append(now.Rules(), one), nil
	})
}

func newGroupMappingsRemove(t terminal.Terminal) *cobra.Command {
	return changingGroupMappings(t, &cobra.Command{
		Use:   "remove PROVIDER CLAIM VALUE GROUP",
		Short: "Remove a group mapping",
		Long: `Remove a group mapping. If this is the last mapping to the group, users who joined the
group through a mapping are removed from it immediately.`,
		Example: "  postern group-mappings remove idp_… groups /billing billing",
	}, func(now contract.GroupMappings, one contract.GroupMapping) ([]contract.GroupMapping, error) {
		rules := len(now.Mappings)
		now.Mappings = slices.DeleteFunc(now.Mappings, func(is contract.NamedGroupMapping) bool {
			return is.Claim == one.Claim && is.Value == one.Value && is.Match == one.Match &&
				(is.Group == one.Group || is.GroupName == one.Group)
		})
		if len(now.Mappings) == rules {
			return nil, fmt.Errorf("the provider doesn't have this mapping: run `postern group-mappings list " +
				"PROVIDER` to see its mappings")
		}
		return now.Rules(), nil
	})
}

// changingGroupMappings completes a command that changes the list of rules by one.
func changingGroupMappings(
	t terminal.Terminal, command *cobra.Command,
	change func(contract.GroupMappings, contract.GroupMapping) ([]contract.GroupMapping, error),
) *cobra.Command {
	var prefix bool
	cli.TakeArguments(t, command, contract.GetGroupMappings, "PROVIDER", "CLAIM", "VALUE", "GROUP")
	terminal.Described(command,
		[2]string{"CLAIM", "path to the claim, such as realm_access.roles. For GitHub: organizations, " +
			"organization_ids, teams or team_ids"},
		[2]string{"VALUE", "value of the claim, case-sensitive. If the claim is a list, at least one item must match"},
		[2]string{"GROUP", "name or ID of a group in the app client's tenant"})
	command.RunE = func(c *cobra.Command, args []string) error {
		one := contract.GroupMapping{Claim: args[1], Value: args[2], Match: contract.MatchExact, Group: args[3]}
		if prefix {
			one.Match = contract.MatchPrefix
		}
		return cli.AsHolderOf("provider ", "")(t, c, func(api *client.Client) error {
			in := contract.GroupMappingsUpdate{ProviderPath: contract.ProviderPath{Provider: args[0]}}
			now, err := client.Do(c.Context(), api, contract.GetGroupMappings, in.ProviderPath)
			if err != nil {
				return err
			}
			in.IfMatch = now.ETag
			if in.Body.Mappings, err = change(now, one); err != nil {
				return err
			}
			if now, err = client.Do(c.Context(), api, contract.SetGroupMappings, in); err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, now)
			}
			return printGroupMappings(t, now)
		})
	}
	for pointer, name := range map[string]string{
		"": "CLAIM VALUE GROUP", "/claim": "CLAIM", "/value": "VALUE", "/match": "--prefix", "/group": "GROUP",
	} {
		terminal.NamePointer(command, "/mappings/*"+pointer, name)
	}
	command.Flags().BoolVar(&prefix, "prefix", false, "match claim values that begin with VALUE")
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func printGroupMappings(t terminal.Terminal, found contract.GroupMappings) error {
	if len(found.Mappings) == 0 {
		_, err := fmt.Fprintln(t.Out, "No group mappings.")
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("CLAIM", "MATCH", "VALUE", "GROUP")
		for _, one := range found.Mappings {
			row(one.Claim, one.Match, one.Value, cmp.Or(one.GroupName, one.Group))
		}
	})
}
