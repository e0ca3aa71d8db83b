package projects

import (
	"github.com/spf13/cobra"

	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/core/snapshot"
)

const tokenIssuerHelp = "issuer of tokens for --methods jwt, as 'ISSUER AUDIENCE [jwks=URL] [tenant=NAME]'"

const (
	introspectionForm       = "'ENDPOINT [client=ID] [iss=ISSUER] [aud=AUDIENCE] [method=client_secret_post]'"
	introspectionHelp       = "introspection endpoint for --methods opaque, as " + introspectionForm
	introspectionSecretHelp = "file with the secret for client=ID, or - for standard input"
)

// introspection parses --introspection and --introspection-secret-file; it returns nil
// without them.
func introspection(t terminal.Terminal, line, secretFile string) (*contract.NewIntrospection, error) {
	if line == "" {
		if secretFile != "" {
			return nil, terminal.UsageError("--introspection-secret-file requires --introspection")
		}
		return nil, nil
	}
	read, err := snapshot.ParseIntrospection(line)
	if err != nil {
		return nil, terminal.UsageError("--introspection: " + err.Error())
	}
	out := &contract.NewIntrospection{Introspection: read.Introspection}
	if secretFile == "" {
		return out, nil
	}
	secret, err := terminal.ReadSecret(t, secretFile)
	out.ClientSecret = new(contract.Secret(secret))
	return out, terminal.OfFlag("introspection-secret-file", err)
}

// tokenIssuers parses --token-issuer; it returns nil without it.
func tokenIssuers(lines []string) (*contract.JWT, error) {
	if lines == nil {
		return nil, nil
	}
	out := &contract.JWT{}
	for _, line := range lines {
		pair, err := snapshot.ParseTokenIssuer(line)
		if err != nil {
			return nil, terminal.UsageError("--token-issuer: " + err.Error())
		}
		out.AllowedPairs = append(out.AllowedPairs, pair)
	}
	return out, nil
}

func newVersionsTestIssuer(t terminal.Terminal) *cobra.Command {
	var tokenFile string
	test := func(in *contract.TokenIssuerTest) error { return readToken(t, tokenFile, &in.Body.Token) }
	command := cli.DiagnosisCommand(t, cli.AsProject, contract.TestTokenIssuer, test)
	command.Long = `Test that the gateway can verify an issuer's tokens. The server fetches the issuer's
discovery document and keys. ISS and AUD are the iss and aud claims of its tokens. With
--token-file, the command also shows whether the gateway accepts that token, and why or
why not. You can test an issuer that the version doesn't use. The exit code is 1 if the
test fails.`
	command.Flags().StringVar(&tokenFile, "token-file", "", tokenFileHelp)
	return command
}

func newVersionsTestIntrospection(t terminal.Terminal) *cobra.Command {
	var line, secretFile, tokenFile string
	test := func(in *contract.IntrospectionTest) error {
		if secretFile == "-" && tokenFile == "-" {
			return terminal.UsageError("--introspection-secret-file and --token-file can't both be standard input")
		}
		at, err := introspection(t, line, secretFile)
		if err != nil {
			return err
		}
		in.Body.Opaque = at
		return readToken(t, tokenFile, &in.Body.Token)
	}
	command := cli.DiagnosisCommand(t, cli.AsProject, contract.TestIntrospection, test)
	command.Long = `Test the endpoint that checks opaque tokens. The server sends it the token
in --token-file, or a random token that was never issued. The command shows whether
the gateway accepts the token, and why or why not. To test a different endpoint, use
--introspection. The exit code is 1 if the test fails.`
	command.Flags().StringVar(&line, "introspection", "", "endpoint to test, as "+introspectionForm+
		". Defaults to the version's endpoint")
	command.Flags().StringVar(&secretFile, "introspection-secret-file", "", introspectionSecretHelp)
	command.Flags().StringVar(&tokenFile, "token-file", "", tokenFileHelp)
	return command
}

const tokenFileHelp = "file with a token to test, or - for standard input. The server doesn't store the token"

// readToken reads the token, unless no file is given.
func readToken(t terminal.Terminal, file string, into *contract.Secret) error {
	if file == "" {
		return nil
	}
	token, err := terminal.ReadSecret(t, file)
	*into = contract.Secret(token)
	return terminal.OfFlag("token-file", err)
}
