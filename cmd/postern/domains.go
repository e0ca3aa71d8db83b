package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/platform/fault"
)

func newDomains(t terminal) *cobra.Command {
	return family("domains", "List, add, verify, move and remove the custom host names of a project",
		newDomainsList(t), newDomainsAdd(t), newDomainsVerify(t), newDomainsMove(t), newDomainsRemove(t),
		newDomainsApprove(t))
}

// onDomain sends a call with the credential of the project that has the host name.
func onDomain[T any](
	ctx context.Context, s session, project, host string, call func(context.Context, caller) (T, error),
) (T, error) {
	out, err := onProject(ctx, s, project, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no host name %q in a project %q at %s, or none "+
			"that the credentials stored on this machine can access", host, project, s.server).Because(err)
	}
	return out, err
}

// domainCommand completes a command on one host name. do returns the value that --json
// prints, and lines what is printed without it.
func domainCommand[T any](
	t terminal, command *cobra.Command, do func(ctx context.Context, api caller, args []string) (T, error),
	lines func(T, []string) []string,
) *cobra.Command {
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		out, err := onDomain(c.Context(), s, args[0], args[1], func(ctx context.Context, api caller) (T, error) {
			return do(ctx, api, args)
		})
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, out)
		}
		for _, line := range lines(out, args) {
			if _, err := fmt.Fprintln(t.out, printable(line)); err != nil {
				return err //nolint:wrapcheck // of the terminal
			}
		}
		return nil
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newDomainsList(t terminal) *cobra.Command {
	var options client.ListOptions
	command := &cobra.Command{
		Use:   "list PROJECT",
		Short: "List the custom host names of a project",
		Args:  exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			all, err := onProject(c.Context(), s, args[0],
				func(ctx context.Context, api caller) ([]client.Domain, error) {
					return collect(api.Domains(ctx, args[0], options))
				})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, all)
			}
			return table(t.out, func(row func(...string)) {
				row("HOST", "VERSION", "ENVIRONMENT", "STATE", "CERTIFICATE", "TXT RECORD", "VALUE")
				for _, d := range all {
					row(d.Host, d.Version, d.Environment, d.State, certificateCell(d.Certificate), d.Record.Name,
						d.Record.Value)
				}
			})
		},
	}
	listFlags(command, &options, "name", "host", "created")
	command.Flags().StringVar(&options.State, "state", "", "only those that are pending, verified or missing")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// certificateCell returns the state of a certificate for a table: "valid to 2027-02-01".
func certificateCell(c client.DomainCertificate) string {
	text := c.State
	if c.EndsAt != nil {
		text += " to " + c.EndsAt.UTC().Format(time.DateOnly)
	}
	if c.Problem != nil && c.EndsAt != nil {
		text += ", renewal fails"
	}
	return text
}

func newDomainsAdd(t terminal) *cobra.Command {
	var in client.NewDomain
	command := domainCommand(t, &cobra.Command{
		Use:   "add PROJECT HOST",
		Short: "Add a host name of your own to an environment",
		Long: `Add a host name of your own to an environment. It is served as soon as it is
verified: add the TXT record that is printed at the name servers of your domain,
and run postern domains verify. Point the host name itself at the gateway.`,
		Example: `  postern domains add shop api.example.com --environment prod
  postern domains add shop api.example.com --version 2.0.0 --environment prod`,
		Args: exactly("PROJECT", "HOST"),
	}, func(ctx context.Context, api caller, args []string) (client.Domain, error) {
		in.Host = args[1]
		return api.CreateDomain(ctx, args[0], in)
	}, func(d client.Domain, args []string) []string {
		return []string{
			d.Host + " is added. Show that it is yours with this TXT record:",
			"",
			"  " + d.Record.Name + "  TXT  " + d.Record.Value,
			"",
			"Then verify it with: postern domains verify " + args[0] + " " + d.Host,
		}
	})
	command.Flags().StringVar(&in.Environment, "environment", "prod", "environment that the host name leads to")
	command.Flags().StringVar(&in.Version, "version", "", "its version, where several have that environment")
	return command
}

func newDomainsVerify(t terminal) *cobra.Command {
	return domainCommand(t, &cobra.Command{
		Use:     "verify PROJECT HOST",
		Short:   "Verify a host name by its TXT record, and serve it",
		Example: `  postern domains verify shop api.example.com`,
		Args:    exactly("PROJECT", "HOST"),
	}, func(ctx context.Context, api caller, args []string) (client.Domain, error) {
		return api.VerifyDomain(ctx, args[0], args[1])
	}, func(d client.Domain, _ []string) []string {
		return []string{d.Host + " is verified: it leads to " + d.Version + "/" + d.Environment + "."}
	})
}

func newDomainsMove(t terminal) *cobra.Command {
	var version, environment string
	command := domainCommand(t, &cobra.Command{
		Use:     "move PROJECT HOST",
		Short:   "Lead a host name to another environment",
		Example: `  postern domains move shop api.example.com --version 2.0.0 --environment prod`,
		Args:    exactly("PROJECT", "HOST"),
	}, func(ctx context.Context, api caller, args []string) (client.Domain, error) {
		return api.MoveDomain(ctx, args[0], args[1], version, environment)
	}, func(d client.Domain, _ []string) []string {
		return []string{d.Host + " leads to " + d.Version + "/" + d.Environment + " now."}
	})
	command.Flags().StringVar(&environment, "environment", "prod", "environment that the host name leads to")
	command.Flags().StringVar(&version, "version", "", "its version, where several have that environment")
	return command
}

func newDomainsRemove(t terminal) *cobra.Command {
	return domainCommand(t, &cobra.Command{
		Use:   "remove PROJECT HOST",
		Short: "Remove a host name; calls to it get 404",
		Args:  exactly("PROJECT", "HOST"),
	}, func(ctx context.Context, api caller, args []string) (nothing, error) {
		return nothing{}, api.DeleteDomain(ctx, args[0], args[1])
	}, func(_ nothing, args []string) []string { return []string{args[1] + " is removed."} })
}

func newDomainsApprove(t terminal) *cobra.Command {
	var undo bool
	command := domainCommand(t, &cobra.Command{
		Use:   "approve PROJECT HOST",
		Short: "Verify a host name of any team without a TXT record (operators only)",
		Long: `Verify a host name of any team without a TXT record, for names that the public
DNS does not have. With --undo the name is not verified any more, and not served.

Operators are the first account and the accounts added with postern operators add.`,
		Example: `  postern domains approve shop api.corp.example
  postern domains approve shop api.corp.example --undo`,
		Args: exactly("PROJECT", "HOST"),
	}, func(ctx context.Context, api caller, args []string) (client.DomainApproval, error) {
		if undo {
			return api.DisapproveDomain(ctx, args[0], args[1])
		}
		return api.ApproveDomain(ctx, args[0], args[1])
	}, func(d client.DomainApproval, _ []string) []string {
		if d.State == "pending" {
			return []string{d.Host + " of " + d.Project + " is not verified any more."}
		}
		return []string{d.Host + " of " + d.Project + " is verified."}
	})
	command.Flags().BoolVar(&undo, "undo", false, "end the verification of the name")
	return command
}
