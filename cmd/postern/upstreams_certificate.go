package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

func newUpstreamsCertificate(t terminal) *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:   "certificate PROJECT ENVIRONMENT",
		Short: "Show the client certificate that calls present to the upstream (mTLS)",
		Args:  exactly("PROJECT", "ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			show := func(ctx context.Context, api caller) (client.ClientCertificate, error) {
				e, err := environmentNamed(ctx, api, args[0], version, args[1])
				if err != nil {
					return client.ClientCertificate{}, err
				}
				found, err := api.ClientCertificate(ctx, args[0], e.ID)
				return found, absent(err, "no_client_certificate", "calls to %s present no client certificate", args[1])
			}
			shown, err := onProject(c.Context(), s, args[0], show)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, shown)
			}
			_, err = fmt.Fprintf(t.out, "Subject:  %s\nIssuer:   %s\nSHA-256:  %s\nValid:    %s to %s\n",
				shown.Subject, shown.Issuer, shown.SHA256,
				shown.StartsAt.Format(time.RFC3339), shown.ExpiresAt.Format(time.RFC3339))
			return err
		},
	}
	addVersionFlag(command, &version)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newUpstreamsSetCertificate(t terminal) *cobra.Command {
	var version, certificateFile, keyFile string
	command := &cobra.Command{
		Use:   "set-certificate PROJECT ENVIRONMENT --certificate FILE --key FILE",
		Short: "Present a client certificate to the upstream (mTLS)",
		Long: `Present a client certificate to the upstream in the TLS handshake (mTLS). Both
files are PEM: the certificate, followed by those of its issuers, and its private key without a passphrase. The key is
never shown again.`,
		Example: `  postern upstreams set-certificate shop prod --certificate client.crt --key client.key`,
		Args:    exactly("PROJECT", "ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			if certificateFile == "" || keyFile == "" {
				return usageError{"give --certificate and --key, each with a file"}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			certificate, err := os.ReadFile(certificateFile)
			if err != nil {
				return fmt.Errorf("read the certificate: %w", err)
			}
			key, err := os.ReadFile(keyFile)
			if err != nil {
				return fmt.Errorf("read the private key: %w", err)
			}
			set := func(ctx context.Context, api caller) (client.ClientCertificate, error) {
				e, err := environmentNamed(ctx, api, args[0], version, args[1])
				if err != nil {
					return client.ClientCertificate{}, err
				}
				return api.SetClientCertificate(ctx, args[0], e.ID, string(certificate), string(key))
			}
			shown, err := onProject(c.Context(), s, args[0], set)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, shown)
			}
			_, err = fmt.Fprintf(t.out, "Calls to %s present the certificate of %s, which expires at %s.\n",
				args[1], shown.Subject, shown.ExpiresAt.Format(time.RFC3339))
			return err
		},
	}
	command.Flags().StringVar(&certificateFile, "certificate", "", "file with the certificate and those of its issuers")
	command.Flags().StringVar(&keyFile, "key", "", "file with the private key")
	addVersionFlag(command, &version)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newUpstreamsRemoveCertificate(t terminal) *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:   "remove-certificate PROJECT ENVIRONMENT",
		Short: "Stop presenting a client certificate to the upstream",
		Args:  exactly("PROJECT", "ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			remove := func(ctx context.Context, api caller) (struct{}, error) {
				e, err := environmentNamed(ctx, api, args[0], version, args[1])
				if err != nil {
					return struct{}{}, err
				}
				err = api.RemoveClientCertificate(ctx, args[0], e.ID)
				return struct{}{}, absent(
					err, "no_client_certificate", "calls to %s present no client certificate", args[1],
				)
			}
			if _, err := onProject(c.Context(), s, args[0], remove); err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "Calls to %s present no certificate to the upstream.\n", args[1])
			return err
		},
	}
	addVersionFlag(command, &version)
	addServerFlag(command)
	return command
}
