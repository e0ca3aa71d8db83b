package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

// As calls run with a client for a command's credential. run prints only after a successful
// response, so that it can be tried with one credential after another.
type As func(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error

// AsPerson runs a command as the signed-in account.
func AsPerson(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	_, person, err := SignedIn(t, c)
	if err != nil {
		return err
	}
	return person.Explained(run(person.Client))
}

// AsHolder runs a command with the first valid credential, which may be a workspace key.
func AsHolder(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	return inSession(t, c, func(s Session) error {
		callers, err := s.Callers()
		if err != nil {
			return err
		}
		_, err = First(c.Context(), callers, calling(run))
		return err
	})
}

// AsProject runs a command with each credential that may be valid for its first argument, a project. If something is
// not found in the project, the error names the argument that is wrong. If the project is the only argument and exists,
// the error is the server's, and a flag is wrong.
func AsProject(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	return inSession(t, c, func(s Session) error {
		arguments := ArgumentsOf(c)
		_, err := OnProject(c.Context(), s, arguments[0], calling(run))
		if fault.CodeOf(err) != "not_found" {
			return err
		}
		project, missing := projectOf(c.Context(), s, arguments[0])
		if missing != nil {
			return err
		}
		if len(arguments) == 1 {
			return serversOf(err)
		}
		text := absentIn(project, strings.Fields(c.Annotations[namesKey]), arguments)
		return fault.New(fault.NotFound, "not_found", "%s", text).Because(err)
	})
}

// serversOf returns the server's error that an error of firstOf has as its cause.
func serversOf(err error) error {
	if known, ok := errors.AsType[*fault.Error](err); ok && known.Unwrap() != nil {
		return known.Unwrap()
	}
	return err
}

// absentIn says which argument of a command names something that a project doesn't have. names are those of the
// arguments.
func absentIn(project contract.Project, names, arguments []string) string {
	var version *contract.Version
	for i, name := range names[:min(len(names), len(arguments))] {
		switch given := arguments[i]; name {
		case versionArgument:
			var all []string
			for _, v := range project.Versions {
				if all = append(all, v.Name); v.Name == given || v.ID == given {
					version = &v
				}
			}
			if version == nil {
				return fmt.Sprintf("%s: This project has no version %q. Its versions: %s.", name, given,
					strings.Join(all, ", "))
			}
		case environmentArgument:
			if version == nil {
				continue
			}
			var all []string
			for _, e := range version.Environments {
				all = append(all, e.Name)
			}
			if !slices.ContainsFunc(version.Environments, func(e contract.Environment) bool {
				return e.Name == given || e.ID == given
			}) {
				return fmt.Sprintf("%s: Version %s has no environment %q. Its environments: %s.", name, version.Name,
					given, strings.Join(all, ", "))
			}
		}
	}
	last := min(len(names), len(arguments)) - 1
	noun := strings.ReplaceAll(strings.ToLower(names[last]), "_", " ")
	return fmt.Sprintf("%s: This project has no %s %q.", names[last], noun, arguments[last])
}

// OfProject is AsProject for a command whose other arguments don't name something that the project has.
func OfProject(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	return inSession(t, c, func(s Session) error {
		_, err := OnProject(c.Context(), s, c.Flags().Arg(0), calling(run))
		return err
	})
}

// AsHolderOf is AsHolder for a command whose first argument names a thing of a kind, such as "key ", that any of the
// credentials may access. hint says where to find its name.
func AsHolderOf(kind, hint string) As {
	return func(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
		return inSession(t, c, func(s Session) error {
			_, err := OnAny(c.Context(), s, fmt.Sprintf("%s%q", kind, c.Flags().Arg(0)), hint, calling(run))
			return err
		})
	}
}

// AsKey is AsHolderOf for keys.
var AsKey = AsHolderOf("key ", ". To find its ID, run `postern keys list PROJECT`")

func inSession(t terminal.Terminal, c *cobra.Command, do func(Session) error) error {
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	return do(s)
}

// calling returns run as one of the calls that are tried with one credential after another.
func calling(run func(*client.Client) error) func(context.Context, Caller) (struct{}, error) {
	return func(_ context.Context, api Caller) (struct{}, error) { return struct{}{}, run(api.Client) }
}

// AsAll runs a command with every credential. One that doesn't find what a flag names is skipped if another one does.
// One that is no longer valid, because its workspace was claimed or has ended, is also reported.
func AsAll(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	callers, err := s.Callers()
	if err != nil {
		return err
	}
	refused := errors.New("none of the stored credentials work")
	var absent error
	for _, one := range callers {
		err := run(one.Client)
		switch over := fault.KindOf(err) == fault.Unauthenticated; {
		case fault.KindOf(err) == fault.NotFound:
			absent = cmp.Or(absent, one.Explained(err))
			continue
		case over && one.login:
			fmt.Fprintln(t.Err, "Your sign-in has expired. Run `postern login` again.")
		case over && one.project != "":
			fmt.Fprintf(t.Err, "The workspace key for %s is no longer valid.\n", one.project)
		case err != nil:
			return one.Explained(err)
		default:
			refused = nil
			continue
		}
		if refused != nil {
			refused = one.Explained(err)
		}
	}
	if refused != nil && absent != nil {
		return absent
	}
	return refused
}

// AsReader runs a command about the log of a team with each credential that may be valid for the project, or without a
// project with the only credential.
func AsReader(team, project *string) As {
	return func(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
		return inSession(t, c, func(s Session) error {
			if *project != "" {
				_, err := OnProject(c.Context(), s, *project, calling(run))
				return err
			}
			callers, err := s.Callers()
			if err != nil {
				return err
			}
			if len(callers) > 1 && *team == "" {
				return terminal.UsageError("several workspaces are stored on this machine: choose one with --team")
			}
			_, err = First(c.Context(), callers, calling(run))
			return err
		})
	}
}
