package main

import (
	"postern/core/contract"
	"postern/core/snapshot"
)

const tokenIssuerHelp = "whose tokens --methods jwt takes, as 'ISSUER AUDIENCE [jwks=URL] [tenant=NAME]', once for " +
	"each; all of them, but not the project's own login"

const (
	introspectionHelp = "introspection endpoint for --methods opaque, as 'ENDPOINT [client=ID] [iss=ISSUER] " +
		"[aud=AUDIENCE] [method=client_secret_post]'"
	introspectionSecretHelp = "file with the secret for client=ID; - for standard input"
)

// introspection parses --introspection and --introspection-secret-file; it returns nil
// without them.
func introspection(t terminal, line, secretFile string) (*contract.NewIntrospection, error) {
	if line == "" {
		if secretFile != "" {
			return nil, usageError("--introspection-secret-file needs --introspection")
		}
		return nil, nil
	}
	read, err := snapshot.ParseIntrospection(line)
	if err != nil {
		return nil, usageError("--introspection: " + err.Error())
	}
	out := &contract.NewIntrospection{Introspection: read.Introspection}
	if secretFile == "" {
		return out, nil
	}
	secret, err := readSecret(t, secretFile)
	out.ClientSecret = new(contract.Secret(secret))
	return out, err
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
			return nil, usageError("--token-issuer: " + err.Error())
		}
		out.AllowedPairs = append(out.AllowedPairs, pair)
	}
	return out, nil
}
