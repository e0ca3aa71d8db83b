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
			_, err := fmt.Fprintf(t.Out, "%s is added. Show that it is yours with this TXT record:\n\n"+
				"  %s  TXT  %s\n\nThen verify it with: postern domains verify %s %s\n",
				d.Host, d.Record.Name, d.Record.Value, terminal.Printable(in.Project), d.Host)
			return err
		})
	create.Long = `Add a custom domain, a host name of your own, to an environment. It is served as soon
as it is verified: add the TXT record that is printed at the name servers of your
domain, and run postern domains verify. Point the host name itself at the gateway.`
	verify := contract.VerifyDomain
	verify.Summary = "Verify a custom domain by its TXT record, and serve it"
	return terminal.Family(
		"domains",
		"List and change a project's custom domains",
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
					row("Leads to", d.Version+"/"+d.Environment)
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
				_, err := fmt.Fprintf(t.Out, "%s leads to %s/%s now.\n", d.Host, d.Version, d.Environment)
				return err
			},
		),
		cli.OperationCommand(t, cli.AsProject, verify, func(_ contract.DomainPath, d contract.Domain) error {
			_, err := fmt.Fprintf(t.Out, "%s is verified: it leads to %s/%s.\n", d.Host, d.Version, d.Environment)
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
		text += ", renewal fails"
	}
	return text
}

func newDomainsApprove(t terminal.Terminal) *cobra.Command {
	var in contract.DomainPath
	var undo bool
	op := contract.ApproveDomain.Operation
	op.Summary = "Verify a custom domain of any team without a TXT record (operators only)"
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
			_, err = fmt.Fprintf(t.Out, "%s of %s is not verified any more.\n", d.Host, d.Project)
		default:
			_, err = fmt.Fprintf(t.Out, "%s of %s is verified.\n", d.Host, d.Project)
		}
		return err
	})
	command.Long = `Verify a custom domain of any team without a TXT record, for names that the public
DNS does not have. With --undo the name is not verified any more, and not served.

Operators are the first account and the accounts added with postern operators add.`
	command.Example += "\n" + command.Example + " --undo"
	command.Flags().BoolVar(&undo, "undo", false, "end the verification of the name")
	terminal.AddJSONFlag(command)
	return command
}
