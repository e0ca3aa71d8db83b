package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/platform/fault"
)

// As calls run with a client for a command's credential. run prints only after a successful
// response, so that it can be tried with one credential after another.
type As func(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error

// AsPerson runs a command as the signed-in account.
func AsPerson(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, person, err := SignedIn(t, c)
	if err != nil {
		return err
	}
	return s.LoginOver(person, run(person.Client))
}

// AsHolder runs a command with the first valid credential, which may be a workspace key.
func AsHolder(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	callers, err := s.Callers()
	if err != nil {
		return err
	}
	_, err = First(
		c.Context(), callers,
		func(_ context.Context, api Caller) (struct{}, error) { return struct{}{}, run(api.Client) },
	)
	return s.LoginOver(&callers[0], err)
}

// AsProject runs a command with each credential that may be valid for its first argument, a project.
func AsProject(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("project %q", c.Flags().Arg(0))
	if named := c.Flags().Args()[1:]; len(named) > 0 && c.Name() != "create" {
		what = fmt.Sprintf("%q in a %s", strings.Join(named, " "), what)
	}
	_, err = onThing(c.Context(), s, c.Flags().Arg(0), what, func(_ context.Context, api Caller) (struct{}, error) {
		return struct{}{}, run(api.Client)
	})
	return err
}

// OfProject is AsProject for a command whose other arguments don't name something that the project has.
func OfProject(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	_, err = OnProject(c.Context(), s, c.Flags().Arg(0), func(_ context.Context, api Caller) (struct{}, error) {
		return struct{}{}, run(api.Client)
	})
	return err
}

// AsKey runs a command with the credential of the project that has the key in its first argument.
func AsKey(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	_, err = onKey(c.Context(), s, c.Flags().Arg(0), func(_ context.Context, api Caller) (struct{}, error) {
		return struct{}{}, run(api.Client)
	})
	return err
}

// AsAll runs a command with every credential. One that is no longer valid, because its workspace was claimed or has
// ended, is reported and skipped if another one works.
func AsAll(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	callers, err := s.Callers()
	if err != nil {
		return err
	}
	refused := errors.New("no credential works")
	for _, one := range callers {
		err := run(one.Client)
		switch over := fault.KindOf(err) == fault.Unauthenticated; {
		case over && one.Login:
			fmt.Fprintln(t.Err, "The sign-in is over: run `postern login` again.")
		case over && one.project != "":
			fmt.Fprintf(t.Err, "The workspace key of %s is no longer valid.\n", one.project)
		case err != nil:
			return err
		default:
			refused = nil
			continue
		}
		if refused != nil {
			refused = s.LoginOver(&one, err)
		}
	}
	return refused
}

// AsReader runs a command about the log of a team with each credential that may be valid for the project, or without a
// project with the only credential.
func AsReader(team, project *string) As {
	return func(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
		s, err := OpenSession(t, c)
		if err != nil {
			return err
		}
		call := func(_ context.Context, api Caller) (struct{}, error) { return struct{}{}, run(api.Client) }
		if *project != "" {
			_, err = OnProject(c.Context(), s, *project, call)
			return err
		}
		callers, err := s.Callers()
		if err != nil {
			return err
		}
		if len(callers) > 1 && *team == "" {
			return terminal.UsageError("several workspaces are stored on this machine: choose one with --team")
		}
		_, err = First(c.Context(), callers, call)
		return err
	}
}
