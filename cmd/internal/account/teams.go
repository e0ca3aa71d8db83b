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
	return terminal.Family("teams", "List and change teams, and leave them",
		cli.ListCommand(t, cli.AsPerson, contract.ListTeams, []string{"ID", "NAME", "ROLE"},
			func(team contract.Team) []string { return []string{team.ID, team.Name, team.Role} }),
		cli.FactsCommand(t, cli.AsPerson, contract.CreateTeam, teamFacts),
		cli.FactsCommand(t, cli.AsPerson, contract.GetTeam, teamFacts),
		cli.FactsCommand(t, cli.AsPerson, contract.UpdateTeam, teamFacts),
		cli.DoneCommand(t, cli.AsPerson, contract.LeaveTeam, "You have left %s."),
		newTeamsDelete(t),
	)
}

func teamFacts(team contract.Team) [][2]string {
	return [][2]string{{"Team", team.Name}, {"Id", team.ID}, {"Your role", team.Role}}
}

func newMembers(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"members",
		"List and change the members of a team",
		cli.ListCommand(t, cli.AsPerson, contract.ListTeamMembers,
			[]string{"ACCOUNT", "NAME", "E-MAIL", "ROLE", "JOINED"},
			func(m contract.TeamMember) []string {
				return []string{m.Account, m.Name, m.Email, m.Role, terminal.When(&m.JoinedAt)}
			},
		),
		cli.FactsCommand(t, cli.AsPerson, contract.GetTeamMember, memberFacts),
		cli.FactsCommand(t, cli.AsPerson, contract.UpdateTeamMember, memberFacts),
		cli.DoneCommand(t, cli.AsPerson, contract.RemoveTeamMember, "%s is no longer in the team."),
	)
}

func memberFacts(m contract.TeamMember) [][2]string {
	return [][2]string{{"Member", m.Name + " <" + m.Email + ">"}, {"Role", m.Role}}
}

func newInvitations(t terminal.Terminal) *cobra.Command {
	accept := cli.FactsCommand(t, cli.AsPerson, contract.AcceptInvitation, teamFacts)
	join := accept.RunE
	accept.Use, accept.Args = "accept LINK", terminal.Exactly("LINK")
	accept.RunE = func(c *cobra.Command, args []string) error {
		return join(c, []string{args[0][strings.LastIndex(args[0], "/")+1:]})
	}
	return terminal.Family("invitations", "List, create, revoke and accept invitations to teams",
		cli.ListCommand(t, cli.AsPerson, contract.ListInvitations, []string{"ID", "ROLE", "FOR", "UNTIL"},
			func(i contract.Invitation) []string {
				return []string{i.ID, i.Role, i.Email, terminal.When(&i.ExpiresAt)}
			}),
		cli.FactsCommand(t, cli.AsPerson, contract.CreateInvitation, func(i contract.InvitationWithLink) [][2]string {
			if i.ByMail {
				return append([][2]string{{"Link", "mailed to " + i.Email}}, invitationFacts(i.Invitation)...)
			}
			return append([][2]string{
				{"Link", i.URL.Reveal()},
				{"", "Send it: it works once, and is not shown again."},
			}, invitationFacts(i.Invitation)...)
		}),
		cli.FactsCommand(t, cli.AsPerson, contract.GetInvitation, func(i contract.Invitation) [][2]string {
			return append([][2]string{{"For", i.Email}}, invitationFacts(i)...)
		}),
		cli.DoneCommand(t, cli.AsPerson, contract.RevokeInvitation, "%s is revoked."),
		accept,
	)
}

func invitationFacts(i contract.Invitation) [][2]string {
	return [][2]string{{"Id", i.ID}, {"Role", i.Role}, {"Until", terminal.When(&i.ExpiresAt)}}
}

func newTeamsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.TeamRemoval
	var yes bool
	command := cli.RequestCommand(t, cli.AsPerson, contract.DeleteTeam.Operation, &in,
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
				err := cli.PrintAlong(t.Out, terminal.Count{N: d.Members, One: "member"},
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
			_, err = fmt.Fprintf(t.Out, "The team %s is deleted.\n", terminal.Printable(team.Name))
			return err
		})
	command.Use += " [--yes]"
	command.Long = `Delete a team of which you are an owner, by its id. Its members lose their access, and
its invitations, webhooks, products, and tenants with their people are deleted too. A
team with projects is refused: move them to another team, or delete them for good,
first. This cannot be undone.`
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}
