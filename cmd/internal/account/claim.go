package account

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

func newClaim(t terminal.Terminal) *cobra.Command {
	var team string
	command := &cobra.Command{
		Use:   "claim [URL]",
		Short: "Claim projects created without an account",
		Long: `Claim a workspace that was created without an account. Without a URL, the command claims
every workspace that was created on this machine. Names, URLs and API keys stay the same.
The workspace key stops working.

The projects move to your first team unless you set --team.`,
		Example: `  postern claim
  postern claim http://127.0.0.1:8080/claim/… --team Shops`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := serverOfLink(t, c, args); err != nil {
				return err
			}
			s, person, err := cli.SignedIn(t, c)
			if err != nil {
				return err
			}
			into, err := findTeam(c.Context(), person, team)
			if err != nil {
				return person.Explained(err)
			}
			codes, err := claimable(s, args)
			if err != nil {
				return err
			}
			if len(codes) == 0 {
				_, err := fmt.Fprintf(t.Out, "There is no unclaimed workspace at %s that was created on this "+
					"machine.\nTo claim one that was created in another way, such as with curl, run postern claim "+
					"URL with the claim URL from the response.\n", s.Server)
				return err
			}
			return claimAll(c.Context(), t, s, *person, codes, into)
		},
	}
	command.Flags().StringVar(&team, "team", "", "name or ID of the team to move the projects to, or \"new\" for a "+
		"new team. Defaults to your first team")
	terminal.Described(command, [2]string{"URL", "claim link that POST /proxy returned, or the code at its end"})
	cli.AddServerFlag(command)
	return command
}

// serverOfLink takes the server from a claim link unless --server names one. A link must not
// choose where POSTERN_TOKEN is sent; the other credentials are each kept for one server.
func serverOfLink(t terminal.Terminal, c *cobra.Command, args []string) error {
	if len(args) == 0 || c.Flags().Changed("server") || t.Variable("POSTERN_TOKEN") != "" {
		return nil
	}
	server, _, isLink := strings.Cut(args[0], "/claim/")
	if !isLink {
		return nil
	}
	return c.Flags().Set("server", server)
}

// waiting is a claim code and, if it is kept here, the project that it came with.
type waiting struct{ code, project, projectID string }

// claimable returns the given code, or without one all kept codes.
func claimable(s cli.Session, args []string) ([]waiting, error) {
	kept, err := s.Kept.WorkspacesOf(s.Server)
	if err != nil {
		return nil, err
	}
	var list []waiting
	if len(args) == 1 {
		_, code, isLink := strings.Cut(args[0], "/claim/")
		if !isLink {
			code = args[0]
		}
		list = append(list, waiting{code: strings.Trim(code, "/ ")})
	}
	for _, w := range kept {
		switch {
		case w.ClaimCode == "":
		case len(args) == 0:
			list = append(list, waiting{w.ClaimCode, w.Project, w.ProjectID})
		case w.ClaimCode == list[0].code:
			list[0] = waiting{w.ClaimCode, w.Project, w.ProjectID}
		}
	}
	return list, nil
}

// newTeam is the value of --team for a new team, as on the claim page.
const newTeam = "new"

// findTeam returns the id of the team to claim into, "" for a new one. Without a name it
// is the caller's first team, or a new one if the caller may not add projects there.
func findTeam(ctx context.Context, person *cli.Caller, name string) (string, error) {
	who, err := client.Do(ctx, person.Client, contract.GetWhoami, contract.None{})
	if err != nil {
		return "", err
	}
	if name == "" && len(who.Teams) > 0 && who.Teams[0].Role != "viewer" {
		return who.Teams[0].ID, nil
	}
	var found, names []string
	for _, team := range who.Teams {
		if team.ID == name {
			return team.ID, nil
		}
		if team.Name == name {
			found = append(found, team.ID)
		}
		names = append(names, team.Name)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && (name == "" || name == newTeam):
		return "", nil
	case len(found) == 0:
		return "", fault.New(
			fault.NotFound, "no_team", "you aren't in a team called %q. Your teams: %s", name,
			strings.Join(names, ", "),
		)
	}
	return "", terminal.UsageError(
		fmt.Sprintf("you are in several teams called %q. Use one of these IDs: %s", name, strings.Join(found, " or ")))

}

// claimAll claims all codes, and returns an error if one failed.
func claimAll(
	ctx context.Context, t terminal.Terminal, s cli.Session, person cli.Caller, list []waiting, team string,
) error {
	var failed error
	for _, w := range list {
		if err := claimOne(ctx, t, s, person, w, team); err != nil {
			if w.project != "" {
				err = fmt.Errorf("could not claim %s: %w", w.project, err)
			}
			failed = errors.Join(failed, person.Explained(err))
		}
	}
	return failed
}

// claimOne claims a code and then removes its workspace from the kept ones. A response
// can get lost: a used code was ours if its project is visible to the login.
func claimOne(
	ctx context.Context, t terminal.Terminal, s cli.Session, person cli.Caller, w waiting, team string,
) error {
	claimed, err := client.Do(ctx, person.Client, contract.ClaimWorkspace, contract.ClaimOf(w.code, team))
	switch {
	case err == nil:
		fmt.Fprintf(
			t.Out, "Claimed %s for the team %s. URLs and API keys don't change.\n",
			terminal.Printable(strings.Join(claimed.Projects, ", ")), terminal.Printable(claimed.Team.Name),
		)
	case fault.CodeOf(err) == "already_claimed" && w.projectID != "":
		at := contract.ProjectPath{Project: w.projectID}
		if _, notOurs := client.Do(ctx, person.Client, contract.GetProject, at); notOurs != nil {
			return err
		}
		fmt.Fprintf(t.Out, "%s is already yours.\n", terminal.Printable(w.project))
	default:
		return err
	}
	return s.Kept.ForgetClaimed(s.Server, w.code)
}

// offerClaims lists the unclaimed workspaces kept here after a sign-in, and claims them
// into the account's first team if the user agrees.
func offerClaims(
	ctx context.Context, t terminal.Terminal, s cli.Session, person cli.Caller, who contract.Whoami, yes bool,
) error {
	list, err := claimable(s, nil)
	if err != nil || len(list) == 0 {
		return err
	}
	var names []string
	for _, w := range list {
		names = append(names, w.project)
	}
	team, to := contract.Membership{}, "a new team"
	if len(who.Teams) > 0 {
		team = who.Teams[0]
		to = "the team " + team.Name
	}
	fmt.Fprintf(t.Out, "Created on this machine without an account: %s.\n",
		terminal.Printable(strings.Join(names, ", ")))
	if !yes && t.Asks() {
		yes = terminal.Answered(t, "Claim them for "+to+"? [y/N] ", "y")
	}
	if !yes {
		_, err := fmt.Fprintln(t.Out,
			"They expire unless you claim them. To claim them later, run: postern claim")
		return err
	}
	return claimAll(ctx, t, s, person, list, team.ID)
}
