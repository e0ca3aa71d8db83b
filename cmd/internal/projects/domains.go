package projects

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newDomains(t terminal.Terminal) *cobra.Command {
	create := cli.OperationCommand(t, cli.AsProject, contract.CreateDomain,
		func(in contract.DomainCreation, d contract.Domain) error {
			_, err := fmt.Fprintf(t.Out, "Added %s. To prove that it is yours, create this TXT record:\n\n  %s  TXT  "+
				"%s\n\nThen run: postern domains verify %s %s\n",
				d.Host, d.Record.Name, d.Record.Value, terminal.Printable(in.Project), d.Host)
			return err
		})
	create.Long = `Add a custom domain to an environment. The command prints a TXT record. Add the record
at your DNS provider, point the domain to the gateway, and run postern domains verify.
The domain is served once it is verified.`
	verify := contract.VerifyDomain
	verify.Summary = "Verify a custom domain by its TXT record"
	return terminal.Family(
		"domains",
		"Manage the custom domains of a project",
		cli.ListCommand(t, cli.AsProject, contract.ListDomains,
			[]string{"HOST", "VERSION", "ENVIRONMENT", "STATE", "CERTIFICATE", "TXT RECORD", "VALUE"},
			func(d contract.Domain) []string {
				return []string{d.Host, d.Version, d.Environment, d.State, certificateCell(d.Certificate),
					d.Record.Name, d.Record.Value}
			}),
		create,
		cli.OperationCommand(t, cli.AsProject, contract.GetDomain,
			func(_ contract.DomainPath, d contract.Domain) error {
				return terminal.Details(t.Out, func(row func(...string)) {
					row("Domain", d.Host)
					row("Points to", d.Version+"/"+d.Environment)
					row("State", d.State)
					row("Certificate", certificateCell(d.Certificate))
					row("TXT record", d.Record.Name)
					row("Value", d.Record.Value)
					row("Problem", orEmpty(d.Problem))
					row("ID", d.ID)
					row("Created", terminal.When(&d.CreatedAt))
				})
			},
		),
		cli.OperationCommand(t, cli.AsProject, contract.UpdateDomain,
			func(_ contract.DomainUpdate, d contract.Domain) error {
				_, err := fmt.Fprintf(t.Out, "%s now points to %s/%s.\n", d.Host, d.Version, d.Environment)
				return err
			},
		),
		cli.OperationCommand(t, cli.AsProject, verify, func(_ contract.DomainPath, d contract.Domain) error {
			_, err := fmt.Fprintf(t.Out, "%s is verified and points to %s/%s.\n", d.Host, d.Version, d.Environment)
			return err
		}),
		cli.DoneCommand(t, cli.AsProject, contract.DeleteDomain, "%s is deleted."),
		newDomainsApprove(t),
	)
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
	command.Long = `Verify a custom domain of any team without a TXT record, for names that aren't in
public DNS. With --undo, withdraw the verification, so that the domain is no longer served.

The first account is an operator, and so is every account added with postern
operators add.`
	command.Example += "\n" + command.Example + " --undo"
	command.Flags().BoolVar(&undo, "undo", false, "withdraw the verification")
	terminal.AddJSONFlag(command)
	return command
}
