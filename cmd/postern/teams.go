package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

// teamCommands returns the commands of an account and its teams.
func teamCommands(t terminal) []*cobra.Command {
	return []*cobra.Command{newAccount(t), newTeams(t), newMembers(t), newInvitations(t), newTokens(t)}
}

func newTeams(t terminal) *cobra.Command {
	return family("teams", "List and change teams, and leave them",
		listCommand(t, asPerson, contract.ListTeams, []string{"ID", "NAME", "ROLE"},
			func(team contract.Team) []string { return []string{team.ID, team.Name, team.Role} }),
		factsCommand(t, asPerson, contract.CreateTeam, teamFacts),
		factsCommand(t, asPerson, contract.GetTeam, teamFacts),
		factsCommand(t, asPerson, contract.UpdateTeam, teamFacts),
		doneCommand(t, asPerson, contract.LeaveTeam, "You have left %s."),
		newTeamsDelete(t),
	)
}

func teamFacts(team contract.Team) [][2]string {
	return [][2]string{{"Team", team.Name}, {"Id", team.ID}, {"Your role", team.Role}}
}

func newMembers(t terminal) *cobra.Command {
	return family("members", "List and change the members of a team",
		listCommand(t, asPerson, contract.ListTeamMembers, []string{"ACCOUNT", "NAME", "E-MAIL", "ROLE", "JOINED"},
			func(m contract.TeamMember) []string {
				return []string{m.Account, m.Name, m.Email, m.Role, when(&m.JoinedAt)}
			}),
		factsCommand(t, asPerson, contract.GetTeamMember, memberFacts),
		factsCommand(t, asPerson, contract.UpdateTeamMember, memberFacts),
		doneCommand(t, asPerson, contract.RemoveTeamMember, "%s is no longer in the team."),
	)
}

func memberFacts(m contract.TeamMember) [][2]string {
	return [][2]string{{"Member", m.Name + " <" + m.Email + ">"}, {"Role", m.Role}}
}

func newInvitations(t terminal) *cobra.Command {
	accept := factsCommand(t, asPerson, contract.AcceptInvitation, teamFacts)
	join := accept.RunE
	accept.Use, accept.Args = "accept LINK", exactly("LINK")
	accept.RunE = func(c *cobra.Command, args []string) error {
		return join(c, []string{args[0][strings.LastIndex(args[0], "/")+1:]})
	}
	return family("invitations", "List, create, revoke and accept invitations to teams",
		listCommand(t, asPerson, contract.ListInvitations, []string{"ID", "ROLE", "FOR", "UNTIL"},
			func(i contract.Invitation) []string {
				return []string{i.ID, i.Role, i.Email, when(&i.ExpiresAt)}
			}),
		factsCommand(t, asPerson, contract.CreateInvitation, func(i contract.InvitationWithLink) [][2]string {
			if i.ByMail {
				return append([][2]string{{"Link", "mailed to " + i.Email}}, invitationFacts(i.Invitation)...)
			}
			return append([][2]string{
				{"Link", i.URL.Reveal()},
				{"", "Send it: it works once, and is not shown again."},
			}, invitationFacts(i.Invitation)...)
		}),
		factsCommand(t, asPerson, contract.GetInvitation, func(i contract.Invitation) [][2]string {
			return append([][2]string{{"For", i.Email}}, invitationFacts(i)...)
		}),
		doneCommand(t, asPerson, contract.RevokeInvitation, "%s is revoked."),
		accept,
	)
}

func invitationFacts(i contract.Invitation) [][2]string {
	return [][2]string{{"Id", i.ID}, {"Role", i.Role}, {"Until", when(&i.ExpiresAt)}}
}

// inName calls run with a client for a command's credential. run prints only after a successful
// response, so that it can be tried with one credential after another.
type inName func(t terminal, c *cobra.Command, run func(*client.Client) error) error

// asPerson runs a command as the signed-in account.
func asPerson(t terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, person, err := signedIn(t, c)
	if err != nil {
		return err
	}
	return s.loginOver(person, run(person.Client))
}

// asHolder runs a command with the first valid credential, which may be a workspace key.
func asHolder(t terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	callers, err := s.callers()
	if err != nil {
		return err
	}
	_, err = first(
		c.Context(), callers,
		func(_ context.Context, api caller) (nothing, error) { return nothing{}, run(api.Client) },
	)
	return s.loginOver(&callers[0], err)
}

// asProject runs a command with each credential that may be valid for its first argument, a project.
func asProject(t terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("project %q", c.Flags().Arg(0))
	if named := c.Flags().Args()[1:]; len(named) > 0 && c.Name() != "create" {
		what = fmt.Sprintf("%q in a %s", strings.Join(named, " "), what)
	}
	_, err = onThing(c.Context(), s, c.Flags().Arg(0), what, func(_ context.Context, api caller) (nothing, error) {
		return nothing{}, run(api.Client)
	})
	return err
}

// asKey runs a command with the credential of the project that has the key in its first argument.
func asKey(t terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	_, err = onKey(c.Context(), s, c.Flags().Arg(0), func(_ context.Context, api caller) (nothing, error) {
		return nothing{}, run(api.Client)
	})
	return err
}
