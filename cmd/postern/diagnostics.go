package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/fault"
)

const tokenFileHelp = "file with a token to test it with; - for standard input. It is sent to the server, which " +
	"keeps it nowhere"

func newUpstreamsCheck(t terminal) *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:   "check PROJECT ENVIRONMENT",
		Short: "Check whether the gateway reaches an environment's target",
		Long: `Check whether the gateway reaches an environment's target: the server sends one
request as it would forward a call, with the same guard, TLS and upstream
credentials. It follows no redirect. The exit status is 1 if the check fails.`,
		Example: "  postern upstreams check shop prod",
		Args:    exactly("PROJECT", "ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			check := func(ctx context.Context, api caller) (client.Diagnosis, error) {
				e, err := environmentNamed(ctx, api, args[0], version, args[1])
				if err != nil {
					return client.Diagnosis{}, err
				}
				return api.CheckTarget(ctx, args[0], e.ID)
			}
			found, err := onProject(c.Context(), s, args[0], check)
			if err != nil {
				return err
			}
			return printDiagnosis(t, c, found)
		},
	}
	addVersionFlag(command, &version)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newVersionsTestIssuer(t terminal) *cobra.Command {
	var tokenFile string
	command := &cobra.Command{
		Use:   "test-issuer PROJECT VERSION ISSUER AUDIENCE [jwks=URL] [tenant=NAME]",
		Short: "Test whether the gateway could verify tokens of an issuer",
		Long: `Test whether the gateway could verify tokens of an issuer: the server fetches its
discovery document and keys. With --token-file it also says what the gateway
decides about that token, and why. The issuer need not be one of the version's.
The exit status is 1 if the test fails.`,
		Example: "  postern versions test-issuer shop 1.0.0 https://accounts.example.com https://api.example.com",
		Args:    cobra.RangeArgs(4, 6),
		RunE: func(c *cobra.Command, args []string) error {
			pair, err := snapshot.ParseTokenIssuer(strings.Join(args[2:], " "))
			if err != nil {
				return usageError{err.Error()}
			}
			token, err := readToken(t, tokenFile)
			if err != nil {
				return err
			}
			return testVersion(t, c, args, func(ctx context.Context, api caller, v contract.Version) (client.Diagnosis,
				error) {
				return api.TestTokenIssuer(ctx, args[0], v.ID, pair, token)
			})
		},
	}
	command.Flags().StringVar(&tokenFile, "token-file", "", tokenFileHelp)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newVersionsTestIntrospection(t terminal) *cobra.Command {
	var line, secretFile, tokenFile string
	command := &cobra.Command{
		Use:   "test-introspection PROJECT VERSION",
		Short: "Test the endpoint that opaque tokens are introspected at",
		Long: `Test the endpoint that opaque tokens are introspected at: the server asks it about a
token that was never issued, or about the one in --token-file, and says what the
gateway decides about it, and why. --introspection names another endpoint than the
version's own. The exit status is 1 if the test fails.`,
		Example: "  postern versions test-introspection shop 1.0.0 --token-file -",
		Args:    exactly("PROJECT", "VERSION"),
		RunE: func(c *cobra.Command, args []string) error {
			if secretFile == "-" && tokenFile == "-" {
				return usageError{"--introspection-secret-file and --token-file cannot both be the standard input"}
			}
			at, err := introspection(t, line, secretFile)
			if err != nil {
				return err
			}
			token, err := readToken(t, tokenFile)
			if err != nil {
				return err
			}
			return testVersion(t, c, args, func(ctx context.Context, api caller, v contract.Version) (client.Diagnosis,
				error) {
				return api.TestIntrospection(ctx, args[0], v.ID, at, token)
			})
		},
	}
	command.Flags().StringVar(&line, "introspection", "", introspectionHelp)
	command.Flags().StringVar(&secretFile, "introspection-secret-file", "", introspectionSecretHelp)
	command.Flags().StringVar(&tokenFile, "token-file", "", tokenFileHelp)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newProvidersTest(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "test PROVIDER",
		Short: "Test a provider without a user who signs in",
		Long: `Test a provider without a user who signs in: its discovery document, its keys, and
whether it accepts the client ID and secret. The exit status is 1 if the test fails.`,
		Args: exactly("PROVIDER"),
		RunE: func(c *cobra.Command, args []string) error {
			found, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.Diagnosis, error) {
				return api.TestProvider(ctx, args[0])
			})
			if err != nil {
				return err
			}
			return printDiagnosis(t, c, found)
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// testVersion runs a test of the version in args, which begin with project and version.
func testVersion(
	t terminal, c *cobra.Command, args []string,
	test func(context.Context, caller, contract.Version) (client.Diagnosis, error),
) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	found, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Diagnosis, error) {
		v, err := findVersion(ctx, api, args[0], args[1])
		if err != nil {
			return client.Diagnosis{}, err
		}
		return test(ctx, api, v)
	})
	if err != nil {
		return err
	}
	return printDiagnosis(t, c, found)
}

func readToken(t terminal, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	return readSecret(t, file)
}

// printDiagnosis prints a report. It returns an error for one that fails, so that scripts see it.
func printDiagnosis(t terminal, c *cobra.Command, found client.Diagnosis) error {
	var err error
	if wantsJSON(c) {
		err = printJSON(t.out, found)
	} else {
		err = details(t.out, func(row func(...string)) {
			row("STEP", "OUTCOME", "DETAIL")
			for _, step := range found.Steps {
				row(step.Step, step.Outcome, step.Detail)
			}
			for _, key := range found.Keys {
				row("key", key.Type, strings.TrimSpace(key.ID+" "+key.Algorithm))
			}
		})
	}
	if err == nil && found.Outcome == "fail" {
		return fault.New(fault.Conflict, "test_failed", "the test failed; the steps say why")
	}
	return err
}
