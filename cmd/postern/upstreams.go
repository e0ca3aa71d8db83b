package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

func newUpstreams(t terminal) *cobra.Command {
	return family("upstreams", "Check upstreams, and set what shows them that a call comes from this project",
		newUpstreamsHeaders(t), newUpstreamsCertificate(t), newUpstreamsSigning(t), newUpstreamsCheck(t))
}

// asEnvironment is asProject for something that an environment may lack. absent says so, by the arguments of the
// command.
func asEnvironment(absent func(args []string) string) inName {
	return func(t terminal, c *cobra.Command, run func(*client.Client) error) error {
		return asProject(t, c, func(api *client.Client) error {
			err := run(api)
			if fault.CodeOf(err) != "not_found" {
				return err
			}
			args := c.Flags().Args()
			at := contract.EnvironmentOf(args[0], args[1], args[2])
			if _, missing := client.Do(c.Context(), api, contract.GetEnvironment, at); missing != nil {
				return err
			}
			return fault.New(fault.NotFound, "absent", "%s", absent(args)).Because(err)
		})
	}
}

func noHeader(args []string) string {
	return fmt.Sprintf("calls to %s have no header %s; `postern upstreams headers list %s` shows those they have",
		args[2], args[3], strings.Join(args[:3], " "))
}

func noCertificate(args []string) string {
	return fmt.Sprintf("calls to %s present no client certificate", args[2])
}

func newUpstreamsHeaders(t terminal) *cobra.Command {
	set := func(h contract.UpstreamHeader) []string { return []string{h.Name, h.UpdatedAt.Format(time.RFC3339)} }
	return family(
		"headers",
		"List and set the headers that calls of an environment have at its upstream",
		listCommand(t, asProject, contract.ListUpstreamHeaders, []string{"HEADER", "SET AT"}, set),
		factsCommand(
			t,
			asEnvironment(noHeader),
			contract.GetUpstreamHeader,
			func(h contract.UpstreamHeader) [][2]string {
				return [][2]string{{"Header", h.Name}, {"Set at", h.UpdatedAt.Format(time.RFC3339)}}
			},
		),
		newUpstreamsHeadersSet(t),
		doneCommand(t, asEnvironment(noHeader), contract.RemoveUpstreamHeader,
			"Calls no longer have %s at the upstream."),
	)
}

func newUpstreamsHeadersSet(t terminal) *cobra.Command {
	var in contract.UpstreamHeaderUpdate
	var file string
	read := func() error {
		value, err := readSecret(t, file)
		in.Body.Value = contract.Secret(value)
		return err
	}
	command := filledCommand(t, asProject, contract.SetUpstreamHeader, &in, read,
		func(h contract.UpstreamHeader) error {
			_, err := fmt.Fprintf(t.out, "Calls to %s have %s at the upstream.\n", printable(in.Environment), h.Name)
			return err
		})
	command.Long = `Set a header with a secret value that every call has at the upstream. What
callers send under that name is removed. The value is the input, or the file that
--file names: every user of a machine can read command lines. It is never shown again.`
	command.Example = `  openssl rand -hex 32 | tee upstream-token |
    postern upstreams headers set shop 1.0.0 prod X-Upstream-Token
  postern upstreams headers set shop 1.0.0 prod Authorization --file bearer-token`
	command.Flags().StringVar(&file, "file", "-", "file with the value; - is the standard input")
	return command
}

func newUpstreamsCertificate(t terminal) *cobra.Command {
	return family("certificate", "Show and set the client certificate that calls present to the upstream (mTLS)",
		factsCommand(t, asEnvironment(noCertificate), contract.GetClientCertificate,
			func(c contract.ClientCertificate) [][2]string {
				return [][2]string{
					{"Subject", c.Subject},
					{"Issuer", c.Issuer},
					{"SHA-256", c.SHA256},
					{"Valid", c.StartsAt.Format(time.RFC3339) + " to " + c.ExpiresAt.Format(time.RFC3339)},
				}
			}),
		newUpstreamsCertificateSet(t),
		doneCommand(t, asEnvironment(noCertificate), contract.RemoveClientCertificate,
			"Calls to %s present no certificate."))
}

func newUpstreamsCertificateSet(t terminal) *cobra.Command {
	var in contract.ClientCertificateUpdate
	var certificate, key string
	read := func() error {
		if certificate == "" || key == "" {
			return usageError("give --certificate and --private-key, each with a file")
		}
		chain, err := os.ReadFile(certificate)
		if err != nil {
			return fmt.Errorf("read the certificate: %w", err)
		}
		private, err := os.ReadFile(key)
		if err != nil {
			return fmt.Errorf("read the private key: %w", err)
		}
		in.Body = contract.NewClientCertificate{Certificate: string(chain), PrivateKey: contract.Secret(private)}
		return nil
	}
	command := filledCommand(t, asProject, contract.SetClientCertificate, &in, read,
		func(c contract.ClientCertificate) error {
			_, err := fmt.Fprintf(t.out, "Calls to %s present the certificate of %s, which expires at %s.\n",
				printable(in.Environment), c.Subject, c.ExpiresAt.Format(time.RFC3339))
			return err
		})
	command.Use += " --certificate FILE --private-key FILE"
	command.Long = `Present a client certificate to the upstream in the TLS handshake (mTLS). Both
files are PEM: the certificate, followed by those of its issuers, and its private
key without a passphrase. The key is never shown again.`
	command.Flags().StringVar(&certificate, "certificate", "", "file with the certificate and those of its issuers")
	command.Flags().StringVar(&key, "private-key", "", "file with the private key")
	return command
}

func newUpstreamsSigning(t terminal) *cobra.Command {
	printed := func(in contract.ProjectPath, s contract.CallSigning) error { return printSigning(t, in.Project, s) }
	return family("signing", "Show and change the keys that sign the calls of a project (RFC 9421)",
		operationCommand(t, asProject, contract.GetCallSigning, printed),
		operationCommand(t, asProject, contract.EnableCallSigning, printed),
		operationCommand(t, asProject, contract.RotateCallSigningKey,
			func(in contract.SigningKeyRotation, s contract.CallSigning) error { return printed(in.ProjectPath, s) }),
		doneCommand(t, asProject, contract.DisableCallSigning, "Calls of %s are not signed."))
}

func printSigning(t terminal, project string, signing contract.CallSigning) error {
	if !signing.Enabled {
		_, err := fmt.Fprintf(t.out, "Calls of %s are not signed.\n", printable(project))
		return err
	}
	if _, err := fmt.Fprintf(t.out, "Calls of %s are signed. Public keys: %s\n", printable(project),
		orEmpty(signing.DirectoryURL)); err != nil {
		return err
	}
	return table(t.out, func(row func(...string)) {
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
