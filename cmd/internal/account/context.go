package account

import (
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/credentials"
	"postern/cmd/internal/terminal"
)

func newContext(t terminal.Terminal) *cobra.Command {
	command := terminal.Family("context", "Show or change the server that commands use",
		newContextList(t), newContextShow(t), newContextUse(t))
	command.Long = `Show or change the server that commands use. A context is a server where you have
signed in or created a proxy. It is named after the server's host.

Commands use the first of the following that is set:
  1. --server
  2. POSTERN_SERVER (a URL)
  3. POSTERN_CONTEXT (the name of a context)
  4. the context that you last signed in to or chose with postern context use, or the
     server where you created your first proxy
  5. http://127.0.0.1:8080`
	return command
}

func newContextList(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "list",
		Short: "List the servers you have used",
		Args:  terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			kept, err := credentials.Open(t)
			if err != nil {
				return err
			}
			list, err := kept.Contexts()
			if err != nil {
				return err
			}
			switch {
			case terminal.WantsJSON(c):
				return terminal.PrintJSONList(t.Out, list)
			case len(list) == 0:
				_, err := fmt.Fprintln(t.Out, "No contexts. Sign in with `postern login URL`.")
				return err
			}
			return terminal.Table(t.Out, func(row func(...string)) {
				row("NAME", "SERVER", "ACCOUNT", "WORKSPACES", "CURRENT")
				for _, one := range list {
					current := ""
					if one.Current {
						current = "*"
					}
					row(one.Name, one.Server, terminal.OrDash(&one.Account), fmt.Sprint(one.Workspaces), current)
				}
			})
		},
	}
	command.Flags().Bool("json", false, "print the list as JSON")
	return command
}

// usedContext is the output of context show --json.
type usedContext struct {
	credentials.Context
	Source string `json:"source"`
}

func newContextShow(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "show",
		Short: "Show the current server and how it was chosen",
		Args:  terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := cli.SessionAt(t, "")
			if err != nil {
				return err
			}
			used := usedContext{credentials.Context{Server: s.Server}, s.Source}
			if found, err := s.Kept.ContextNamed(s.Server); err != nil {
				return err
			} else if found != nil {
				used.Context = *found
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, used)
			}
			return terminal.Details(t.Out, func(row func(...string)) {
				row("Context", terminal.OrDash(&used.Name))
				row("Server", used.Server, "(from "+used.Source+")")
				if s.Token != "" {
					row("Credential", "POSTERN_TOKEN")
				}
				row("Account", terminal.OrDash(&used.Account))
				row("Workspaces", fmt.Sprint(used.Workspaces))
			})
		},
	}
	command.Flags().Bool("json", false, "print the context as JSON")
	return command
}

func newContextUse(t terminal.Terminal) *cobra.Command {
	return terminal.Described(&cobra.Command{
		Use:   "use CONTEXT",
		Short: "Choose the server that commands use",
		Example: `  postern context use postern.example.com
  postern context use http://127.0.0.1:8080`,
		Args: terminal.Exactly("CONTEXT"),
		RunE: func(_ *cobra.Command, args []string) error {
			kept, err := credentials.Open(t)
			if err != nil {
				return err
			}
			found, err := kept.ContextNamed(args[0])
			if err != nil {
				return err
			}
			var server string
			if found != nil {
				server = found.Server
			} else if server, err = client.Address(args[0]); err != nil { // of a server that nothing is kept for yet
				return cli.NoContext("", args[0])
			}
			if err := kept.Use(server); err != nil {
				return err
			}
			fmt.Fprintf(t.Out, "Commands now use %s.\n", server)
			for _, name := range []string{"POSTERN_SERVER", "POSTERN_CONTEXT"} {
				if t.Variable(name) != "" {
					fmt.Fprintf(t.Err, "%s is set and overrides this choice.\n", name)
				}
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			kept, err := credentials.Open(t)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			list, _ := kept.Contexts()
			var names []string
			for _, one := range list {
				names = append(names, cobra.CompletionWithDesc(one.Name, one.Account))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}, [2]string{"CONTEXT", "name of a context, or URL of a server"})
}
