package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newTeams(t terminal) *cobra.Command {
	var options client.ListOptions
	list := listing(
		t,
		asPerson,
		"list",
		"List your teams",
		func(ctx context.Context, api *client.Client, _ []string) ([]client.Team, error) {
			return collect(api.Teams(ctx, options))
		},
		[]string{"ID", "NAME", "ROLE"},
		func(team client.Team) []string { return []string{team.ID, team.Name, team.Role} },
	)
	listFlags(list, &options, "name", "created", "name")
	return family(
		"teams",
		"List, create, rename, leave and delete teams",
		list,
		one(
			t,
			asPerson,
			"create",
			"Create a team",
			[]string{"NAME"},
			func(ctx context.Context, api *client.Client, args []string) (client.Team, error) {
				return api.CreateTeam(ctx, args[0])
			},
			teamLine,
		),
		one(
			t,
			asPerson,
			"rename",
			"Rename a team",
			[]string{"TEAM", "NAME"},
			func(ctx context.Context, api *client.Client, args []string) (client.Team, error) {
				return api.RenameTeam(ctx, args[0], args[1])
			},
			teamLine,
		),
		none(
			t,
			asPerson,
			"leave",
			"Leave a team; its last owner cannot",
			[]string{"TEAM"},
			func(ctx context.Context, api *client.Client, args []string) error {
				return api.LeaveTeam(ctx, args[0])
			},
			"You have left %s.",
		),
		newTeamsDelete(t),
	)
}

func teamLine(team client.Team) [][2]string {
	return [][2]string{{"Team", team.Name}, {"Id", team.ID}, {"Your role", team.Role}}
}

func newMembers(t terminal) *cobra.Command {
	var options client.ListOptions
	list := listing(
		t,
		asPerson,
		"list",
		"List the members of a team",
		func(ctx context.Context, api *client.Client, args []string) ([]client.Member, error) {
			return collect(api.Members(ctx, args[0], options))
		},
		[]string{"ACCOUNT", "NAME", "E-MAIL", "ROLE", "JOINED"},
		func(m client.Member) []string {
			return []string{m.Account, m.Name, m.Email, m.Role, when(&m.JoinedAt)}
		},
		"TEAM",
	)
	listFlags(list, &options, "e-mail address or name", "joined", "name", "role")
	return family(
		"members",
		"List and change the members of a team",
		list,
		one(
			t,
			asPerson,
			"role",
			"Change a member's role to owner, member or viewer",
			[]string{"TEAM", "ACCOUNT", "ROLE"},
			func(ctx context.Context, api *client.Client, args []string) (client.Member, error) {
				return api.ChangeRole(ctx, args[0], args[1], args[2])
			},
			func(m client.Member) [][2]string {
				return [][2]string{{"Member", m.Name + " <" + m.Email + ">"}, {"Role", m.Role}}
			},
		),
		none(
			t,
			asPerson,
			"remove",
			"Take a member out of a team",
			[]string{"TEAM", "ACCOUNT"},
			func(ctx context.Context, api *client.Client, args []string) error {
				return api.RemoveMember(ctx, args[0], args[1])
			},
			"%s is no longer in the team.",
		),
	)
}

func newInvitations(t terminal) *cobra.Command {
	var email string
	create := one(
		t,
		asPerson,
		"create",
		"Create an invitation for one person: mail its link, or show it once",
		[]string{"TEAM", "ROLE"},
		func(ctx context.Context, api *client.Client, args []string) (client.Invitation, error) {
			return api.CreateInvitation(ctx, args[0], args[1], email)
		},
		func(i client.Invitation) [][2]string {
			lines := [][2]string{
				{"Link", i.URL},
				{"", "Send it: it works once, and is not shown again."},
			}
			if i.ByMail {
				lines = [][2]string{{"Link", "mailed to " + i.Email}}
			}
			return append(lines, [][2]string{{"Id", i.ID}, {"Role", i.Role}, {"Until", when(&i.ExpiresAt)}}...)
		},
	)
	create.Example = "  postern invitations create team_… viewer --email vic@example.com"
	create.Flags().StringVar(&email, "email", "", "address that the link is mailed to; "+
		"where the server sends no mail, the address that the account must have (default: any)")
	var options client.ListOptions
	list := listing(
		t,
		asPerson,
		"list",
		"List the open invitations of a team",
		func(ctx context.Context, api *client.Client, args []string) ([]client.Invitation, error) {
			return collect(api.Invitations(ctx, args[0], options))
		},
		[]string{"ID", "ROLE", "FOR", "UNTIL"},
		func(i client.Invitation) []string {
			return []string{i.ID, i.Role, i.Email, when(&i.ExpiresAt)}
		},
		"TEAM",
	)
	listFlags(list, &options, "e-mail address", "created", "email", "role", "expires")
	return family(
		"invitations",
		"List, create, revoke and accept invitations to teams",
		list,
		create,
		none(
			t,
			asPerson,
			"revoke",
			"Revoke an invitation: its link stops working",
			[]string{"TEAM", "INVITATION"},
			func(ctx context.Context, api *client.Client, args []string) error {
				return api.RevokeInvitation(ctx, args[0], args[1])
			},
			"%s is revoked.",
		),
		one(
			t,
			asPerson,
			"accept",
			"Join a team by its invitation's link or code",
			[]string{"LINK"},
			func(ctx context.Context, api *client.Client, args []string) (client.Team, error) {
				return api.AcceptInvitation(ctx, args[0][strings.LastIndex(args[0], "/")+1:])
			},
			teamLine,
		),
	)
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
	if c.Flags().NArg() > 1 && c.Name() != "create" {
		what = fmt.Sprintf("%q in a %s", c.Flags().Arg(1), what)
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

// listing returns a command that prints a list of the API, as a table or as JSON.
func listing[T any](
	t terminal, as inName, name, short string,
	ask func(context.Context, *client.Client, []string) ([]T, error), head []string, cells func(T) []string,
	arguments ...string,
) *cobra.Command {
	command := &cobra.Command{
		Use:   strings.Join(append([]string{name}, arguments...), " "),
		Short: short,
		Args:  exactly(arguments...),
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		return as(t, c, func(api *client.Client) error {
			found, err := ask(c.Context(), api, args)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, found)
			}
			return table(t.out, func(row func(...string)) {
				row(head...)
				for _, item := range found {
					row(cells(item)...)
				}
			})
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// one returns a command that prints one object of the API.
func one[T any](
	t terminal, as inName, name, short string, arguments []string,
	do func(context.Context, *client.Client, []string) (T, error), lines func(T) [][2]string,
) *cobra.Command {
	command := &cobra.Command{
		Use:   strings.Join(append([]string{name}, arguments...), " "),
		Short: short,
		Args:  exactly(arguments...),
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		return as(t, c, func(api *client.Client) error {
			got, err := do(c.Context(), api, args)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, got)
			}
			return details(t.out, func(row func(...string)) {
				for _, line := range lines(got) {
					row(line[0], line[1])
				}
			})
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// none returns a command whose response has no content. Its message names the last argument.
func none(
	t terminal, as inName, name, short string, arguments []string,
	do func(context.Context, *client.Client, []string) error, said string,
) *cobra.Command {
	command := &cobra.Command{
		Use:   strings.Join(append([]string{name}, arguments...), " "),
		Short: short,
		Args:  exactly(arguments...),
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		return as(t, c, func(api *client.Client) error {
			if err := do(c.Context(), api, args); err != nil {
				return err
			}
			_, err := fmt.Fprintf(t.out, said+"\n", printable(args[len(args)-1]))
			return err
		})
	}
	addServerFlag(command)
	return command
}
