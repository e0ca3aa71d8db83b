package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newUsers(t terminal) *cobra.Command {
	return family("users", "List and change the users of tenants",
		listCommand(t, asHolder, contract.ListUsers, []string{"ID", "E-MAIL", "NAME", "STATE", "LAST LOGIN"},
			func(u contract.User) []string {
				return []string{u.ID, u.Email, u.Name, u.State, orNever(u.LastLoginAt)}
			}),
		factsCommand(t, asHolder, contract.CreateUser, userFacts),
		factsCommand(t, asHolder, contract.GetUser, userFacts),
		factsCommand(t, asHolder, contract.UpdateUser, userFacts),
		factsCommand(t, asHolder, contract.FreezeUser, userFacts),
		factsCommand(t, asHolder, contract.UnfreezeUser, userFacts),
		factsCommand(t, asHolder, contract.CreateUserInvitation, func(i contract.UserInvitation) [][2]string {
			return [][2]string{{"Link", i.URL.Reveal()}, {"Ends", when(&i.ExpiresAt)}}
		}),
		doneCommand(t, asHolder, contract.DeleteUser, "%s is deleted."),
		newUserSessions(t),
		newConsents(t),
		newApprovals(t),
		newEntry(t),
	)
}

func userFacts(u contract.User) [][2]string {
	facts := [][2]string{
		{"User", u.Email},
		{"Id", u.ID},
		{"Name", u.Name},
		{"State", u.State},
		{"Last login", orNever(u.LastLoginAt)},
	}
	for _, one := range u.Identities {
		facts = append(facts, [2]string{"Identity", one.Subject + " of " + one.Issuer})
	}
	for _, g := range u.Groups {
		role := "by a nested group"
		if g.IsDirect() {
			role = *g.Role
		}
		facts = append(facts, [2]string{"Group", g.Name + " (" + role + ")"})
	}
	return facts
}

func newUserSessions(t terminal) *cobra.Command {
	return family("sessions", "List and end the sessions of a user",
		listCommand(t, asHolder, contract.ListUserSessions,
			[]string{"ID", "APP CLIENT", "PROVIDER", "SIGNED IN", "LAST SEEN", "BROWSER"},
			func(s contract.UserSession) []string {
				return []string{s.ID, s.ClientName, s.Provider, when(&s.CreatedAt), orNever(s.LastSeenAt), s.UserAgent}
			}),
		doneCommand(t, asHolder, contract.EndUserSession, "%s is ended."),
		factsCommand(t, asHolder, contract.EndUserSessions, func(s contract.EndedSessions) [][2]string {
			return [][2]string{{"Ended", strconv.FormatInt(s.Ended, 10)}}
		}),
	)
}

func newConsents(t terminal) *cobra.Command {
	return family("consents", "List and withdraw what a user agreed to share",
		listCommand(t, asHolder, contract.ListConsents, []string{"APP CLIENT", "ID", "SCOPES", "SINCE"},
			func(c contract.Consent) []string {
				return []string{c.ClientName, c.Client, strings.Join(c.Scopes, " "), when(&c.CreatedAt)}
			}),
		doneCommand(t, asHolder, contract.WithdrawConsent, "The consent to %s is withdrawn."),
	)
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
