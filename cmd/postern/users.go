package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newUsers(t terminal) *cobra.Command {
	var filter client.UserFilter
	list := listing(
		t,
		asHolder,
		"list",
		"List the users of a tenant, newest first",
		func(ctx context.Context, api *client.Client, args []string) ([]client.User, error) {
			return collect(api.Users(ctx, args[0], filter))
		},
		[]string{"ID", "E-MAIL", "NAME", "STATE", "LAST LOGIN"},
		func(u client.User) []string {
			return []string{u.ID, u.Email, u.Name, u.State, orNever(u.LastLoginAt)}
		},
		"TENANT",
	)
	list.Flags().StringVar(&filter.State, "state", "", "active, frozen or invited (default: all)")
	list.Flags().StringVar(&filter.Email, "email", "", "the whole e-mail address")
	list.Flags().StringVar(&filter.Query, "search", "", "only those whose e-mail address or name contains this text")
	sortFlag(list, &filter.Sort, "created", "name", "state", "last_login")
	list.Flags().StringVar(&filter.Group, "group", "", "only members of the group with this id")

	var in client.NewUser
	create := one(
		t,
		asHolder,
		"create",
		"Create an invited user, who signs in with an invitation link or a provider authoritative for the domain",
		[]string{"TENANT", "EMAIL"},
		func(ctx context.Context, api *client.Client, args []string) (client.User, error) {
			in.Email = args[1]
			return api.CreateUser(ctx, args[0], in)
		},
		userLines,
	)
	create.Flags().StringVar(&in.Name, "name", "", "display name")
	create.Flags().StringSliceVar(&in.Groups, "groups", nil, "ids of groups that the user joins")

	return family(
		"users",
		"List and change the users of tenants",
		list,
		create,
		newUsersUpdate(t),
		newUsersInvite(t),
		one(
			t, asHolder, "show", "Show a user with their provider identities and groups",
			[]string{"USER"}, onUser((*client.Client).User), userLines,
		),
		one(
			t, asHolder, "freeze", "Freeze a user: refuse sign-in and calls until unfrozen",
			[]string{"USER"}, onUser((*client.Client).FreezeUser), userLines,
		),
		one(
			t, asHolder, "unfreeze", "Unfreeze a user", []string{"USER"},
			onUser((*client.Client).UnfreezeUser), userLines,
		),
		none(
			t,
			asHolder,
			"delete",
			"Delete a user with their identities",
			[]string{"USER"},
			func(ctx context.Context, api *client.Client, args []string) error {
				return api.DeleteUser(ctx, args[0])
			},
			"%s is deleted.",
		),
		newUserSessions(t),
		newConsents(t),
		newApprovals(t),
		newEntry(t),
	)
}

func onUser(
	do func(*client.Client, context.Context, string) (client.User, error),
) func(context.Context, *client.Client, []string) (client.User, error) {
	return func(ctx context.Context, api *client.Client, args []string) (client.User, error) {
		return do(api, ctx, args[0])
	}
}

func newUsersUpdate(t terminal) *cobra.Command {
	var email, name string
	var command *cobra.Command
	command = one(
		t,
		asHolder,
		"update",
		"Change a user's address or name",
		[]string{"USER"},
		func(ctx context.Context, api *client.Client, args []string) (client.User, error) {
			var in client.UserChange
			if command.Flags().Changed("email") {
				in.Email = &email
			}
			if command.Flags().Changed("name") {
				in.Name = &name
			}
			return api.UpdateUser(ctx, args[0], in)
		},
		userLines,
	)
	command.Flags().StringVar(&email, "email", "", "the new e-mail address")
	command.Flags().StringVar(&name, "name", "", "the new name")
	return command
}

func newUsersInvite(t terminal) *cobra.Command {
	var appClient string
	command := one(
		t,
		asHolder,
		"invite",
		"Create an invitation link for a user who has not signed in yet",
		[]string{"USER"},
		func(ctx context.Context, api *client.Client, args []string) (client.UserInvitation, error) {
			return api.InviteUser(ctx, args[0], appClient)
		},
		func(i client.UserInvitation) [][2]string {
			return [][2]string{{"Link", i.URL}, {"Ends", when(&i.ExpiresAt)}}
		},
	)
	command.Flags().StringVar(&appClient, "app-client", "",
		"id of the app client at which the user signs in (default: the tenant's only one)")
	return command
}

func userLines(u client.User) [][2]string {
	lines := [][2]string{
		{"User", u.Email},
		{"Id", u.ID},
		{"Name", u.Name},
		{"State", u.State},
		{"Last login", orNever(u.LastLoginAt)},
	}
	for _, one := range u.Identities {
		lines = append(lines, [2]string{"Identity", one.Subject + " of " + one.Issuer})
	}
	for _, g := range u.Groups {
		role := "by a nested group"
		if g.Role != nil {
			role = *g.Role
		}
		lines = append(lines, [2]string{"Group", g.Name + " (" + role + ")"})
	}
	return lines
}

func newApprovals(t terminal) *cobra.Command {
	var groups []string
	create := one(
		t,
		asHolder,
		"create",
		"Approve an address, or a domain such as example.com",
		[]string{"TENANT", "VALUE"},
		func(ctx context.Context, api *client.Client, args []string) (client.Approval, error) {
			kind := "domain"
			if strings.Contains(args[1], "@") {
				kind = "email"
			}
			return api.Approve(ctx, args[0], client.NewApproval{Kind: kind, Value: args[1], Groups: groups})
		},
		func(a client.Approval) [][2]string { return [][2]string{{"Approved", a.Value}, {"Id", a.ID}} },
	)
	create.Flags().StringSliceVar(&groups, "groups", nil, "ids of groups that admitted users join")
	var options client.ListOptions
	list := listing(
		t,
		asHolder,
		"list",
		"List the approvals of a tenant",
		func(ctx context.Context, api *client.Client, args []string) ([]client.Approval, error) {
			return collect(api.Approvals(ctx, args[0], options))
		},
		[]string{"ID", "KIND", "VALUE", "GROUPS"},
		func(a client.Approval) []string {
			return []string{a.ID, a.Kind, a.Value, strings.Join(a.Groups, ", ")}
		},
		"TENANT",
	)
	listFlags(list, &options, "address or domain", "created", "value")
	return family(
		"approvals",
		"List and change the approvals of a tenant, which admit users before their first sign-in",
		list,
		create,
		none(
			t,
			asHolder,
			"delete",
			"Delete an approval; users it admitted stay",
			[]string{"TENANT", "APPROVAL"},
			func(ctx context.Context, api *client.Client, args []string) error {
				return api.Disapprove(ctx, args[0], args[1])
			},
			"%s is ended.",
		),
	)
}

func newEntry(t terminal) *cobra.Command {
	entryLines := func(e client.Entry) [][2]string {
		who := "all users of its providers"
		if e.InviteOnly {
			who = "invited and approved users only"
		}
		return [][2]string{{"May sign in", who}}
	}
	set := func(name, short string, only bool) *cobra.Command {
		return one(
			t,
			asHolder,
			name,
			short,
			[]string{"TENANT"},
			func(ctx context.Context, api *client.Client, args []string) (client.Entry, error) {
				return api.SetEntry(ctx, args[0], client.Entry{InviteOnly: only})
			},
			entryLines,
		)
	}
	return family(
		"entry",
		"Show and change who may sign in to a tenant",
		one(
			t,
			asHolder,
			"show",
			"Show who may sign in to a tenant",
			[]string{"TENANT"},
			func(ctx context.Context, api *client.Client, args []string) (client.Entry, error) {
				return api.Entry(ctx, args[0])
			},
			entryLines,
		),
		set("invite-only", "Let only invited and approved users sign in", true),
		set("open", "Let every user of its providers sign in", false),
	)
}
