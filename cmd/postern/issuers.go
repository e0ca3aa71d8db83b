package main

import (
	"postern/client"
	"postern/snapshot"
)

const tokenIssuerHelp = "whose tokens --methods jwt takes, as 'ISSUER AUDIENCE [jwks=URL] [tenant=NAME]', once for each; all of them"

// tokenIssuers reads what --token-issuer was given, nil for nothing.
func tokenIssuers(lines []string) (*client.JWT, error) {
	if lines == nil {
		return nil, nil
	}
	out := &client.JWT{}
	for _, line := range lines {
		pair, err := snapshot.ParseTokenIssuer(line)
		if err != nil {
			return nil, usageError{"--token-issuer: " + err.Error()}
		}
		out.AllowedPairs = append(out.AllowedPairs, client.TokenPair(pair))
	}
	return out, nil
}
