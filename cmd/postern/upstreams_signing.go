package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

func newUpstreamsSigning(t terminal) *cobra.Command {
	return signingCommand(t, &cobra.Command{
		Use:   "signing PROJECT",
		Short: "Show the public keys with which calls of a project are signed",
	}, func(ctx context.Context, api caller, project string) (client.CallSigning, error) {
		return api.CallSigning(ctx, project)
	})
}

func newUpstreamsEnableSigning(t terminal) *cobra.Command {
	return signingCommand(t, &cobra.Command{
		Use:   "enable-signing PROJECT",
		Short: "Sign the calls of a project to its upstreams",
		Long: `Sign the calls of a project to its upstreams (RFC 9421). Calls carry Signature-Input and Signature
from the next one on. The public keys are at the address that is printed, without a credential.`,
	}, func(ctx context.Context, api caller, project string) (client.CallSigning, error) {
		return api.EnableCallSigning(ctx, project)
	})
}

func newUpstreamsRotateSigningKey(t terminal) *cobra.Command {
	var signsIn, grace string
	command := signingCommand(t, &cobra.Command{
		Use:   "rotate-signing-key PROJECT",
		Short: "Sign the calls of a project with another key",
		Long: `Sign the calls of a project with another key. It is published at once and signs after --in, so that
upstreams read it before they need it. The former keys stay published for --grace after that. With 0 for both, for
example when a key is compromised, the former keys end at once.`,
	}, func(ctx context.Context, api caller, project string) (client.CallSigning, error) {
		var in client.SigningRotation
		var err error
		if in.SignsIn, err = secondsOf("--in", signsIn); err != nil {
			return client.CallSigning{}, err
		}
		if in.Grace, err = secondsOf("--grace", grace); err != nil {
			return client.CallSigning{}, err
		}
		return api.RotateSigningKey(ctx, project, in)
	})
	command.Flags().StringVar(&signsIn, "in", "", "when the new key signs: 0, or up to 30d (1h by default)")
	command.Flags().StringVar(&grace, "grace", "", "how long the former keys stay published after that: 0, or up to "+
		"30d "+
		"(24h by default)")
	return command
}

// secondsOf returns the value of a flag in seconds, nil without one.
func secondsOf(flag, value string) (*int64, error) {
	if value == "" {
		return nil, nil
	}
	d, err := readDuration(value)
	if err != nil {
		return nil, usageError{fmt.Sprintf("%s %q is not a duration such as 24h, 7d or 0", flag, value)}
	}
	seconds := int64(d / time.Second)
	return &seconds, nil
}

func newUpstreamsDisableSigning(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "disable-signing PROJECT",
		Short: "Delete the keys with which calls of a project are signed",
		Args:  exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			disable := func(ctx context.Context, api caller) (struct{}, error) {
				return struct{}{}, api.DisableCallSigning(ctx, args[0])
			}
			if _, err := onProject(c.Context(), s, args[0], disable); err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "Calls of %s are not signed.\n", args[0])
			return err
		},
	}
	addServerFlag(command)
	return command
}

// signingCommand completes a command that prints how the calls of a project are signed after
// fn.
func signingCommand(
	t terminal, command *cobra.Command, fn func(context.Context, caller, string) (client.CallSigning, error),
) *cobra.Command {
	command.Args = exactly("PROJECT")
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		signing, err := onProject(c.Context(), s, args[0],
			func(ctx context.Context, api caller) (client.CallSigning, error) {
				return fn(ctx, api, args[0])
			})
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, signing)
		}
		return printSigning(t, args[0], signing)
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printSigning(t terminal, project string, signing client.CallSigning) error {
	if !signing.Enabled {
		_, err := fmt.Fprintf(t.out, "Calls of %s are not signed.\n", project)
		return err
	}
	if _, err := fmt.Fprintf(t.out, "Calls of %s are signed. Public keys: "+
		"%s\n", project, *signing.DirectoryURL); err != nil {
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
