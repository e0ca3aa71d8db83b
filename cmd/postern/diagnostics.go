package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

const tokenFileHelp = "file with a token to test it with; - for standard input. It is sent to the server, which " +
	"keeps it nowhere"

func newUpstreamsCheck(t terminal) *cobra.Command {
	command := diagnosisCommand(t, contract.CheckTarget, func(*contract.EnvironmentPath) error { return nil })
	command.Long = `Check whether the gateway reaches an environment's target: the server sends one
request as it would forward a call, with the same guard, TLS and upstream
credentials. It follows no redirect. The exit status is 1 if the check fails.`
	return command
}

func newVersionsTestIssuer(t terminal) *cobra.Command {
	var tokenFile string
	command := diagnosisCommand(t, contract.TestTokenIssuer, func(in *contract.TokenIssuerTest) error {
		return readToken(t, tokenFile, &in.Body.Token)
	})
	command.Long = `Test whether the gateway could verify tokens of an issuer: the server fetches its
discovery document and keys. ISS and AUD are the claims that its tokens have. With
--token-file the answer also says what the gateway decides about that token, and why.
The issuer need not be one of the version's. The exit status is 1 if the test fails.`
	command.Flags().StringVar(&tokenFile, "token-file", "", tokenFileHelp)
	return command
}

func newVersionsTestIntrospection(t terminal) *cobra.Command {
	var line, secretFile, tokenFile string
	command := diagnosisCommand(t, contract.TestIntrospection, func(in *contract.IntrospectionTest) error {
		if secretFile == "-" && tokenFile == "-" {
			return usageError("--introspection-secret-file and --token-file cannot both be the standard input")
		}
		at, err := introspection(t, line, secretFile)
		if err != nil {
			return err
		}
		in.Body.Opaque = at
		return readToken(t, tokenFile, &in.Body.Token)
	})
	command.Long = `Test the endpoint that opaque tokens are introspected at: the server asks it about a
token that was never issued, or about the one in --token-file, and says what the
gateway decides about it, and why. --introspection names another endpoint than the
version's own. The exit status is 1 if the test fails.`
	command.Flags().StringVar(&line, "introspection", "", introspectionHelp)
	command.Flags().StringVar(&secretFile, "introspection-secret-file", "", introspectionSecretHelp)
	command.Flags().StringVar(&tokenFile, "token-file", "", tokenFileHelp)
	return command
}

// diagnosisCommand returns the command of a test. complete adds to the request what its flags don't have, and is called
// once: it can read standard input.
func diagnosisCommand[In any](
	t terminal, op contract.Op[In, contract.Diagnosis], complete func(*In) error,
) *cobra.Command {
	var in In
	var found contract.Diagnosis
	command := requestCommand(t, asProject, op.Operation, &in,
		func(c *cobra.Command, api *client.Client) (err error) {
			found, err = client.Do(c.Context(), api, op, in)
			return err
		})
	test := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if err := complete(&in); err != nil {
			return err
		}
		if err := test(c, args); err != nil {
			return err
		}
		return printDiagnosis(t, c, found)
	}
	addJSONFlag(command)
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
			found, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (contract.Diagnosis, error) {
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

// readToken reads the token, unless no file is given.
func readToken(t terminal, file string, into *contract.Secret) error {
	if file == "" {
		return nil
	}
	token, err := readSecret(t, file)
	*into = contract.Secret(token)
	return err
}

// printDiagnosis prints a report. It returns an error for one that fails, so that scripts see it.
func printDiagnosis(t terminal, c *cobra.Command, found contract.Diagnosis) error {
	var err error
	if wantsJSON(c) {
		err = printJSON(t.out, found)
	} else {
		err = details(t.out, func(row func(...string)) {
			row("STEP", "OUTCOME", "DETAIL")
			for _, step := range found.Steps {
				row(step.Step, string(step.Outcome), step.Detail)
			}
			for _, key := range found.Keys {
				row("key", key.Type, strings.TrimSpace(key.ID+" "+key.Algorithm))
			}
		})
	}
	if err == nil && found.Outcome == contract.TestFail {
		return fault.New(fault.Conflict, "test_failed", "the test failed; the steps say why")
	}
	return err
}
