package main

import (
	"postern/client"
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
func introspection(t terminal, line, secretFile string) (*client.Opaque, error) {
	if line == "" {
		if secretFile != "" {
			return nil, usageError{"--introspection-secret-file needs --introspection"}
		}
		return nil, nil
	}
	read, err := snapshot.ParseIntrospection(line)
	if err != nil {
		return nil, usageError{"--introspection: " + err.Error()}
	}
	out := &client.Opaque{
		Endpoint: read.Endpoint,
		Method:   string(read.Method),
		ClientID: read.ClientID,
		Issuer:   read.Issuer,
		Audience: read.Audience,
	}
	if secretFile == "" {
		return out, nil
	}
	secret, err := readSecret(t, secretFile)
	out.ClientSecret = &secret
	return out, err
}

// opaqueLine formats an introspection endpoint.
func opaqueLine(o client.Opaque) string {
	return snapshot.Introspection{
		Endpoint: o.Endpoint,
		Method:   snapshot.IntrospectionMethod(o.Method),
		ClientID: o.ClientID,
		Issuer:   o.Issuer,
		Audience: o.Audience,
	}.Line()
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
			return nil, usageError{"--token-issuer: " + err.Error()}
		}
		out.AllowedPairs = append(out.AllowedPairs, pair)
	}
	return out, nil
}
