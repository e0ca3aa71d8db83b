package account

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// Teams returns the commands of an account and its teams.
func Teams(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newAccount(t), newTeams(t), newMembers(t), newInvitations(t), newTokens(t)}
}

func newTeams(t terminal.Terminal) *cobra.Command {
	return terminal.Family("teams", "Manage teams",
		cli.ListCommand(t, cli.AsPerson, contract.ListTeams, []string{"ID", "NAME", "ROLE"},
			func(team contract.Team) []string { return []string{team.ID, team.Name, team.Role} }),
		cli.FactsCommand(t, cli.AsPerson, contract.CreateTeam, teamFacts),
		cli.FactsCommand(t, cli.AsPerson, contract.GetTeam, teamFacts),
		cli.FactsCommand(t, cli.AsPerson, contract.UpdateTeam, teamFacts),
		cli.DoneCommand(t, cli.AsPerson, contract.LeaveTeam, "You left %s."),
		newTeamsDelete(t),
	)
}

func teamFacts(team contract.Team) [][2]string {
	return [][2]string{{"Team", team.Name}, {"ID", team.ID}, {"Your role", team.Role}}
}

func newMembers(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"members",
		"Manage the members of a team",
		cli.ListCommand(t, cli.AsPerson, contract.ListTeamMembers,
			[]string{"ACCOUNT", "NAME", "EMAIL", "ROLE", "JOINED"},
			func(m contract.TeamMember) []string {
				return []string{m.Account, m.Name, m.Email, m.Role, terminal.When(&m.JoinedAt)}
			},
		),
		cli.FactsCommand(t, cli.AsPerson, contract.GetTeamMember, memberFacts),
		cli.FactsCommand(t, cli.AsPerson, contract.UpdateTeamMember, memberFacts),
		cli.DoneCommand(t, cli.AsPerson, contract.RemoveTeamMember, "%s is no longer a member of the team."),
	)
}

func memberFacts(m contract.TeamMember) [][2]string {
	return [][2]string{{"Member", m.Name + " <" + m.Email + ">"}, {"Role", m.Role}}
}

func newInvitations(t terminal.Terminal) *cobra.Command {
	accept := cli.FactsCommand(t, cli.AsPerson, contract.AcceptInvitation, teamFacts)
	join := accept.RunE
	accept.Use, accept.Args = "accept LINK", terminal.Exactly("LINK")
	accept.Long = `Accept an invitation to a team. Adds your account to the team with the role in the
invitation. An invitation works only once.`
	terminal.Described(accept, [2]string{"CODE"}, [2]string{"LINK", "invitation link, or the code at its end"})
	accept.RunE = func(c *cobra.Command, args []string) error {
		return join(c, []string{args[0][strings.LastIndex(args[0], "/")+1:]})
	}
	return terminal.Family("invitations", "Manage invitations to teams",
		cli.ListCommand(t, cli.AsPerson, contract.ListInvitations, []string{"ID", "ROLE", "FOR", "UNTIL"},
			func(i contract.Invitation) []string {
				return []string{i.ID, i.Role, i.Email, terminal.When(&i.ExpiresAt)}
			}),
		cli.FactsCommand(t, cli.AsPerson, contract.CreateInvitation, func(i contract.InvitationWithLink) [][2]string {
			if i.ByMail {
				return append([][2]string{{"Link", "emailed to " + i.Email}}, invitationFacts(i.Invitation)...)
			}
			return append([][2]string{
				{"Link", i.URL.Reveal()},
				{"", "Send this link to the person. It works once. You won't see it again."},
			}, invitationFacts(i.Invitation)...)
		}),
		cli.FactsCommand(t, cli.AsPerson, contract.GetInvitation, func(i contract.Invitation) [][2]string {
			return append([][2]string{{"For", i.Email}}, invitationFacts(i)...)
		}),
		cli.DoneCommand(t, cli.AsPerson, contract.RevokeInvitation, "Revoked %s."),
		accept,
	)
}

func invitationFacts(i contract.Invitation) [][2]string {
	return [][2]string{{"ID", i.ID}, {"Role", i.Role}, {"Until", terminal.When(&i.ExpiresAt)}}
}

func newTeamsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.TeamRemoval
	var yes bool
	op := contract.DeleteTeam.Operation
	op.Deletes = "" // the command asks itself
	command := cli.RequestCommand(t, cli.AsPerson, op, &in,
		func(c *cobra.Command, api *client.Client) error {
			team, err := client.Do(c.Context(), api, contract.GetTeam, in.TeamPath)
			if err != nil {
				return err
			}
			d, err := client.Do(c.Context(), api, contract.GetTeamDeletion, team.Path())
			if err != nil {
				return err
			}
			if len(d.Projects) == 0 { // the refusal names them
				err := cli.PrintDeleted(t.Out, terminal.Count{N: d.Members, One: "member"},
					terminal.Count{N: d.Invitations, One: "invitation"}, terminal.Count{N: d.Tenants, One: "tenant"},
					terminal.Count{N: d.Users, One: "user"}, terminal.Count{N: d.Products, One: "product"},
					terminal.Count{N: d.Webhooks, One: "webhook"})
				if err != nil {
					return err
				}
			}
			if err := cli.ConfirmName(t, "team", team.Name, yes); err != nil {
				return err
			}
			in.Confirm = team.Name
			if _, err := client.Do(c.Context(), api, contract.DeleteTeam, in); err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.Out, "Deleted the team %s.\n", terminal.Printable(team.Name))
			return err
		})
	command.Use += " [--yes]"
	command.Long = `Permanently delete a team that has no projects. You must be an owner of the team. Its
invitations, webhooks, products and tenants (with their users) are also deleted. If the
team has projects, first move them to another team or delete them permanently. You
can't undo this.

` + cli.AsksHelp
	terminal.AddYesFlag(command, &yes)
	return command
}
