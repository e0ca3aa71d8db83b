package projects

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newDomains(t terminal.Terminal) *cobra.Command {
	ofPath := func(in *contract.DomainPath) *contract.DomainPath { return in }
	return terminal.Family(
		"domains",
		"Manage the custom domains of a project",
		cli.ListCommand(t, cli.AsProject, contract.ListDomains,
			[]string{"DOMAIN", "METHODS", "VERSION", "ENVIRONMENT", "STATE", "CERTIFICATE", "TXT RECORD", "VALUE"},
			func(d contract.Domain) []string {
				return []string{d.Address(), methodsCell(d), d.Version, d.Environment, d.State,
					certificateCell(d.Certificate), d.Record.Name, d.Record.Value}
			}),
		newDomainsCreate(t),
		oneDomain(t, contract.GetDomain, ofPath,
			func(_ contract.DomainPath, d contract.Domain) error { return printDomain(t, d) }),
		oneDomain(t, contract.UpdateDomain,
			func(in *contract.DomainUpdate) *contract.DomainPath { return &in.DomainPath },
			func(_ contract.DomainUpdate, d contract.Domain) error {
				_, err := fmt.Fprintf(t.Out, "%s now points to %s/%s.\n", d.Key(), d.Version, d.Environment)
				return errors.Join(err, sayWarnings(t, d))
			},
		),
		oneDomain(t, contract.VerifyDomain, ofPath, func(_ contract.DomainPath, d contract.Domain) error {
			_, err := fmt.Fprintf(t.Out, "%s is verified and points to %s/%s.\n", d.Key(), d.Version, d.Environment)
			return err
		}),
		oneDomain(t, contract.DeleteDomain, ofPath, func(in contract.DomainPath, _ contract.None) error {
			_, err := fmt.Fprintf(t.Out, "%s is deleted.\n", terminal.Printable(in.Domain))
			return err
		}),
		newDomainsApprove(t),
	)
}

func printDomain(t terminal.Terminal, d contract.Domain) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Domain", d.Address())
		row("Methods", methodsCell(d))
		if d.PathPrefix != "" {
			row("Prefix", prefixFate(d))
		}
		row("Points to", d.Version+"/"+d.Environment)
		row("State", d.State)
		row("Certificate", certificateCell(d.Certificate))
		row("TXT record", d.Record.Name)
		row("Value", d.Record.Value)
		row("Problem", orEmpty(d.Problem))
		for _, w := range d.Warnings {
			row("Warning", w.Detail)
		}
		row("ID", d.ID)
		row("Created", terminal.When(&d.CreatedAt))
	})
}

// oneDomain returns the command of an operation on one domain. Its argument can also be a host name with a path
// prefix, which the path of a request can't have.
func oneDomain[In, Out any](
	t terminal.Terminal, op *contract.Op[In, Out], path func(*In) *contract.DomainPath, show func(In, Out) error,
) *cobra.Command {
	var in In
	var none Out
	_, silent := any(none).(contract.None)
	run := func(c *cobra.Command, api *client.Client) error {
		wanted := in
		if err := findDomain(c, api, path(&wanted)); err != nil {
			return err
		}
		out, err := client.Do(c.Context(), api, op, wanted)
		switch {
		case err != nil:
			return err
		case !silent && terminal.WantsJSON(c):
			return terminal.PrintJSON(t.Out, out)
		}
		return show(in, out)
	}
	command := cli.RequestCommand(t, cli.AsProject, op.Operation, &in, run)
	if !silent {
		terminal.AddJSONFlag(command)
	}
	return command
}

// findDomain replaces a host name with a path prefix by the ID of the domain that has both.
func findDomain(c *cobra.Command, api *client.Client, in *contract.DomainPath) error {
	host, prefix, found := strings.Cut(in.Domain, "/")
	if !found {
		return nil
	}
	var ids []string
	list := contract.DomainList{ProjectPath: in.ProjectPath, Text: host}
	for d, err := range client.Each(c.Context(), api, contract.ListDomains, list) {
		if err != nil {
			return err
		}
		if strings.EqualFold(d.Host, host) && d.PathPrefix == strings.TrimSuffix("/"+prefix, "/") {
			ids = append(ids, d.ID)
		}
	}
	switch len(ids) {
	case 0:
		return fmt.Errorf("the project doesn't have the custom domain %s: run `postern domains list %s`", in.Domain,
			in.Project)
	case 1:
		in.Domain = ids[0]
		return nil
	}
	return fmt.Errorf("several of the project's custom domains have the address %s. Use one of these IDs: %s",
		in.Domain, strings.Join(ids, ", "))
}

func newDomainsCreate(t terminal.Terminal) *cobra.Command {
	var in contract.DomainCreation
	op := contract.CreateDomain
	run := func(c *cobra.Command, api *client.Client) error {
		if host, prefix, found := strings.Cut(in.Body.Host, "/"); found {
			if in.Body.PathPrefix != "" {
				return terminal.UsageError("the prefix is in both HOST and --path-prefix: use only one of them")
			}
			in.Body.Host, in.Body.PathPrefix = host, "/"+prefix
		}
		d, err := client.Do(c.Context(), api, op, in)
		switch {
		case err != nil:
			return err
		case terminal.WantsJSON(c):
			return terminal.PrintJSON(t.Out, d)
		case d.State == contract.DomainPending:
			_, err = fmt.Fprintf(t.Out, "Added %s. To prove that you own it, create this TXT record:\n\n  %s  TXT  "+
				"%s\n\nThen run: postern domains verify %s %s\n",
				d.Key(), d.Record.Name, d.Record.Value, terminal.Printable(in.Project), d.Host)
		default:
			_, err = fmt.Fprintf(t.Out, "Added %s. It points to %s/%s. The host name is already verified.\n", d.Key(),
				d.Version, d.Environment)
		}
		return errors.Join(err, sayWarnings(t, d))
	}
	command := cli.RequestCommand(t, cli.AsProject, op.Operation, &in, run)
	command.Long = `Add a custom domain to an environment. The command prints a TXT record. Add the record
at your DNS provider, point the domain to the gateway, and run postern domains verify.
The domain is served once it is verified.

If HOST includes a path prefix, only that path and paths below it match. Other
custom domains in the team's projects can share the host name.`
	terminal.Described(command, [2]string{"HOST", "host name, such as api.example.com. It can include a path prefix"})
	command.Example += "\n  postern domains create shop api.example.com/orders --method GET --method POST"
	terminal.AddJSONFlag(command)
	return command
}

// sayWarnings prints the warnings of a domain.
func sayWarnings(t terminal.Terminal, d contract.Domain) error {
	for _, w := range d.Warnings {
		if _, err := fmt.Fprintf(t.Err, "warning: %s\n", w.Detail); err != nil {
			return err
		}
	}
	return nil
}

func methodsCell(d contract.Domain) string {
	if len(d.Methods) == 0 {
		return "all"
	}
	return strings.Join(d.Methods, ", ")
}

// prefixFate says what happens to the prefix of a call.
func prefixFate(d contract.Domain) string {
	if d.StripPrefix {
		return "removed from calls"
	}
	return "kept in calls"
}

// certificateCell returns the state of a certificate for a table: "valid to 2027-02-01".
func certificateCell(c contract.DomainCertificate) string {
	text := c.State
	if c.EndsAt != nil {
		text += " to " + c.EndsAt.UTC().Format(time.DateOnly)
	}
	if c.Problem != nil && c.EndsAt != nil {
		text += ", renewal failed"
	}
	return text
}

func newDomainsApprove(t terminal.Terminal) *cobra.Command {
	var in contract.DomainPath
	var undo bool
	op := contract.ApproveDomain.Operation
	op.Summary = "Verify a custom domain without a TXT record (operators only)"
	command := cli.RequestCommand(t, cli.AsProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		decide := contract.ApproveDomain
		if undo {
			decide = contract.DisapproveDomain
		}
		d, err := client.Do(c.Context(), api, decide, in)
		switch {
		case err != nil:
			return err
		case terminal.WantsJSON(c):
			return terminal.PrintJSON(t.Out, d)
		case d.State == contract.DomainPending:
			_, err = fmt.Fprintf(t.Out, "%s of %s is no longer verified.\n", d.Host, d.Project)
		default:
			_, err = fmt.Fprintf(t.Out, "%s of %s is verified.\n", d.Host, d.Project)
		}
		return err
	})
	command.Long = `Verify any team's custom domain without a TXT record, for names that aren't in public
DNS. To withdraw the verification, use --undo. The domain is then no longer served.

The first account is an operator, and so is every account added with postern
operators add.`
	command.Example += "\n" + command.Example + " --undo"
	command.Flags().BoolVar(&undo, "undo", false, "withdraw the verification")
	terminal.AddJSONFlag(command)
	return command
}
