package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

// peopleCommands returns the commands of tenants and of the people in them.
func peopleCommands(t terminal) []*cobra.Command {
	return []*cobra.Command{newTenants(t), newUsers(t), newGroups(t), newGroupMappings(t)}
}

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
