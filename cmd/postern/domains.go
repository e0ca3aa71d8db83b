package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newDomains(t terminal) *cobra.Command {
	create := operationCommand(t, asProject, contract.CreateDomain,
		func(in contract.DomainCreation, d contract.Domain) error {
			_, err := fmt.Fprintf(t.out, "%s is added. Show that it is yours with this TXT record:\n\n"+
				"  %s  TXT  %s\n\nThen verify it with: postern domains verify %s %s\n",
				d.Host, d.Record.Name, d.Record.Value, printable(in.Project), d.Host)
			return err
		})
	create.Long = `Add a custom domain, a host name of your own, to an environment. It is served as soon
as it is verified: add the TXT record that is printed at the name servers of your
domain, and run postern domains verify. Point the host name itself at the gateway.`
	verify := contract.VerifyDomain
	verify.Summary = "Verify a custom domain by its TXT record, and serve it"
	return family("domains", "List and change a project's custom domains",
		listCommand(t, asProject, contract.ListDomains,
			[]string{"HOST", "VERSION", "ENVIRONMENT", "STATE", "CERTIFICATE", "TXT RECORD", "VALUE"},
			func(d contract.Domain) []string {
				return []string{d.Host, d.Version, d.Environment, d.State, certificateCell(d.Certificate),
					d.Record.Name, d.Record.Value}
			}),
		create,
		operationCommand(t, asProject, contract.GetDomain, func(_ contract.DomainPath, d contract.Domain) error {
			return details(t.out, func(row func(...string)) {
				row("Domain", d.Host)
				row("Leads to", d.Version+"/"+d.Environment)
				row("State", d.State)
				row("Certificate", certificateCell(d.Certificate))
				row("TXT record", d.Record.Name)
				row("Value", d.Record.Value)
				row("Problem", orEmpty(d.Problem))
				row("ID", d.ID)
				row("Created", when(&d.CreatedAt))
			})
		}),
		operationCommand(t, asProject, contract.UpdateDomain, func(_ contract.DomainUpdate, d contract.Domain) error {
			_, err := fmt.Fprintf(t.out, "%s leads to %s/%s now.\n", d.Host, d.Version, d.Environment)
			return err
		}),
		operationCommand(t, asProject, verify, func(_ contract.DomainPath, d contract.Domain) error {
			_, err := fmt.Fprintf(t.out, "%s is verified: it leads to %s/%s.\n", d.Host, d.Version, d.Environment)
			return err
		}),
		doneCommand(t, asProject, contract.DeleteDomain, "%s is deleted."),
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

func newDomainsApprove(t terminal) *cobra.Command {
	var in contract.DomainPath
	var undo bool
	op := contract.ApproveDomain.Operation
	op.Summary = "Verify a custom domain of any team without a TXT record (operators only)"
	command := requestCommand(t, asProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		decide := contract.ApproveDomain
		if undo {
			decide = contract.DisapproveDomain
		}
		d, err := client.Do(c.Context(), api, decide, in)
		switch {
		case err != nil:
			return err
		case wantsJSON(c):
			return printJSON(t.out, d)
		case d.State == contract.DomainPending:
			_, err = fmt.Fprintf(t.out, "%s of %s is not verified any more.\n", d.Host, d.Project)
		default:
			_, err = fmt.Fprintf(t.out, "%s of %s is verified.\n", d.Host, d.Project)
		}
		return err
	})
	command.Long = `Verify a custom domain of any team without a TXT record, for names that the public
DNS does not have. With --undo the name is not verified any more, and not served.

Operators are the first account and the accounts added with postern operators add.`
	command.Example += "\n" + command.Example + " --undo"
	command.Flags().BoolVar(&undo, "undo", false, "end the verification of the name")
	addJSONFlag(command)
	return command
}
