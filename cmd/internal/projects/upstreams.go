package projects

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

func newUpstreams(t terminal.Terminal) *cobra.Command {
	return terminal.Family("upstreams", "Check upstreams and manage credentials for calls to them",
		newUpstreamsList(t), newUpstreamsHeaders(t), newUpstreamsCertificate(t), newUpstreamsSigning(t),
		newUpstreamsCheck(t))
}

// healthTexts are the values of contract.UpstreamTargetHealth.Health that have other words here.
var healthTexts = map[string]string{contract.HealthNotChecked: "not checked", contract.HealthOpen: "breaker open"}

func newUpstreamsList(t terminal.Terminal) *cobra.Command {
	return cli.ListCommand(t, cli.AsProject, contract.ListUpstreams,
		[]string{"VERSION", "ENVIRONMENT", "TARGET", "WEIGHT", "HEALTH", "SINCE", "REASON"},
		func(h contract.UpstreamTargetHealth) []string {
			since := "-"
			if h.Since != nil {
				since = h.Since.Format(time.RFC3339)
			}
			health := cmp.Or(healthTexts[h.Health], h.Health)
			if h.UnhealthyGateways > 0 && h.Gateways > 1 {
				health += fmt.Sprintf(" for %d of %d gateways", h.UnhealthyGateways, h.Gateways)
			}
			return []string{h.Version, h.Environment, h.URL, strconv.Itoa(h.Weight), health, since, orEmpty(h.Reason)}
		})
}

// asEnvironment is cli.AsProject for something that an environment may lack. absent says so, by the arguments of the
// command.
func asEnvironment(absent func(args []string) string) cli.As {
	return func(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
		return cli.AsProject(t, c, func(api *client.Client) error {
			err := run(api)
			if fault.CodeOf(err) != "not_found" {
				return err
			}
			args := cli.ArgumentsOf(c)
			at := contract.EnvironmentOf(args[0], args[1], args[2])
			if _, missing := client.Do(c.Context(), api, contract.GetEnvironment, at); missing != nil {
				return err
			}
			return fault.New(fault.NotFound, "absent", "%s", absent(args)).Because(err)
		})
	}
}

func noHeader(args []string) string {
	return fmt.Sprintf("environment %s has no upstream header %s: run `postern upstreams headers list %s`",
		args[2], args[3], strings.Join(args[:3], " "))
}

func noCertificate(args []string) string {
	return fmt.Sprintf("environment %s has no client certificate", args[2])
}

func newUpstreamsHeaders(t terminal.Terminal) *cobra.Command {
	set := func(h contract.UpstreamHeader) []string { return []string{h.Name, h.UpdatedAt.Format(time.RFC3339)} }
	return terminal.Family(
		"headers",
		"Manage the headers that the gateway adds to every call",
		cli.ListCommand(t, cli.AsProject, contract.ListUpstreamHeaders, []string{"HEADER", "SET AT"}, set),
		cli.FactsCommand(
			t,
			asEnvironment(noHeader),
			contract.GetUpstreamHeader,
			func(h contract.UpstreamHeader) [][2]string {
				return [][2]string{{"Header", h.Name}, {"Set at", h.UpdatedAt.Format(time.RFC3339)}}
			},
		),
		newUpstreamsHeadersSet(t),
		cli.DoneCommand(t, asEnvironment(noHeader), contract.RemoveUpstreamHeader,
			"Removed the header %s."),
	)
}

func newUpstreamsHeadersSet(t terminal.Terminal) *cobra.Command {
	var in contract.UpstreamHeaderUpdate
	var file string
	read := func() error {
		value, err := terminal.ReadSecret(t, file)
		in.Body.Value = contract.Secret(value)
		return terminal.OfFlag("file", err)
	}
	command := cli.FilledCommand(t, cli.AsProject, contract.SetUpstreamHeader, &in, read,
		func(h contract.UpstreamHeader) error {
			_, err := fmt.Fprintf(t.Out, "Set the header %s for %s.\n", h.Name,
				terminal.Printable(in.Environment))
			return err
		})
	command.Long = `Set a header that the gateway adds to every call. It replaces any value that callers
send. The value is read from standard input or --file, because other users of the
machine can see command lines. The value is never shown again.`
	command.Example = `  openssl rand -hex 32 | tee upstream-token |
    postern upstreams headers set shop 1.0.0 prod X-Upstream-Token
  postern upstreams headers set shop 1.0.0 prod Authorization --file bearer-token`
	terminal.NamePointer(command, "/value", "--file")
	command.Flags().StringVar(&file, "file", "-", "file with the value, or - for standard input")
	return command
}

func newUpstreamsCertificate(t terminal.Terminal) *cobra.Command {
	return terminal.Family("certificate",
		"Manage an environment's client certificate (mTLS)",
		cli.FactsCommand(t, asEnvironment(noCertificate), contract.GetClientCertificate,
			func(c contract.ClientCertificate) [][2]string {
				return [][2]string{
					{"Subject", c.Subject},
					{"Issuer", c.Issuer},
					{"SHA-256", c.SHA256},
					{"Valid", c.StartsAt.Format(time.RFC3339) + " to " + c.ExpiresAt.Format(time.RFC3339)},
				}
			}),
		newUpstreamsCertificateSet(t),
		cli.DoneCommand(t, asEnvironment(noCertificate), contract.RemoveClientCertificate,
			"Removed the client certificate for %s."),
	)
}

func newUpstreamsCertificateSet(t terminal.Terminal) *cobra.Command {
	var in contract.ClientCertificateUpdate
	var certificate, key string
	read := func() error {
		if certificate == "" || key == "" {
			return terminal.UsageError("use both --certificate FILE and --private-key FILE")
		}
		chain, err := os.ReadFile(certificate)
		if err != nil {
			return terminal.OfFlag("certificate", terminal.CannotRead(err))
		}
		private, err := os.ReadFile(key)
		if err != nil {
			return terminal.OfFlag("private-key", terminal.CannotRead(err))
		}
		in.Body = contract.NewClientCertificate{Certificate: string(chain), PrivateKey: contract.Secret(private)}
		return nil
	}
	command := cli.FilledCommand(t, cli.AsProject, contract.SetClientCertificate, &in, read,
		func(c contract.ClientCertificate) error {
			_, err := fmt.Fprintf(t.Out, "Calls to %s now present the certificate of %s, which expires on %s.\n",
				terminal.Printable(in.Environment), c.Subject, c.ExpiresAt.Format(time.RFC3339))
			return err
		})
	command.Use += " --certificate FILE --private-key FILE"
	command.Long = `Set the client certificate that the gateway presents to the upstream (mTLS). Both files
are in PEM format. In the certificate file, put the issuers' certificates after the
environment's own. The private key must not have a passphrase, and it is never shown again.`
	terminal.NamePointer(command, "/certificate", "--certificate")
	terminal.NamePointer(command, "/private_key", "--private-key")
	command.Flags().StringVar(&certificate, "certificate", "", "PEM file with the certificate, followed by its "+
		"issuers' certificates")
	command.Flags().StringVar(&key, "private-key", "", "PEM file with the private key")
	return command
}

func newUpstreamsSigning(t terminal.Terminal) *cobra.Command {
	printed := func(in contract.ProjectPath, s contract.CallSigning) error { return printSigning(t, in.Project, s) }
	return terminal.Family("signing", "Manage the keys that sign calls to upstreams (RFC 9421)",
		cli.OperationCommand(t, cli.AsProject, contract.GetCallSigning, printed),
		cli.OperationCommand(t, cli.AsProject, contract.EnableCallSigning, printed),
		cli.OperationCommand(t, cli.AsProject, contract.RotateCallSigningKey,
			func(in contract.SigningKeyRotation, s contract.CallSigning) error { return printed(in.ProjectPath, s) }),
		cli.DoneCommand(t, cli.AsProject, contract.DisableCallSigning, "Turned off call signing for %s."))
}

func printSigning(t terminal.Terminal, project string, signing contract.CallSigning) error {
	if !signing.Enabled {
		_, err := fmt.Fprintf(t.Out, "Call signing is off for %s.\n", terminal.Printable(project))
		return err
	}
	if _, err := fmt.Fprintf(t.Out, "Call signing is on for %s. Public keys: %s\n", terminal.Printable(project),
		orEmpty(signing.DirectoryURL)); err != nil {
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("KEY", "STATE", "SIGNS FROM", "PUBLISHED UNTIL")
		for _, k := range signing.Keys {
			until := "-"
			if k.PublishedUntil != nil {
				until = k.PublishedUntil.Format(time.RFC3339)
			}
			row(k.ID, k.State, k.SignsFrom.Format(time.RFC3339), until)
		}
	})
}

func newUpstreamsCheck(t terminal.Terminal) *cobra.Command {
	command := cli.DiagnosisCommand(t, cli.AsProject, contract.CheckTarget, nil)
	command.Long = `Check that the gateway can reach an environment's target. The server sends one request
the way the gateway forwards calls, with the same address checks, TLS settings and upstream
credentials. It doesn't follow redirects. The exit code is 1 if the check fails.`
	return command
}
