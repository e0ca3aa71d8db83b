package snapshot

import (
	"errors"
	"strings"

	"postern/core/contract"
)

// Introspection is the introspection endpoint of a version.
type Introspection = contract.SavedIntrospection

// IntrospectionMethod says how the client authenticates at the endpoint.
type IntrospectionMethod = contract.IntrospectionMethod

// The methods of introspection endpoints.
const (
	SecretBasic = contract.SecretBasic
	SecretPost  = contract.SecretPost
)

// ParseIntrospection parses the form that Line returns. It does not validate the
// parts.
func ParseIntrospection(line string) (Introspection, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Introspection{}, errors.New("use the form ENDPOINT, followed by client=ID, iss=ISSUER, aud=AUDIENCE " +
			"and method=client_secret_post if needed")
	}
	var out Introspection
	out.Endpoint = words[0]
	method := ""
	places := map[string]*string{"client": &out.ClientID, "iss": &out.Issuer, "aud": &out.Audience, "method": &method}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		at := places[name]
		if at == nil || value == "" || *at != "" {
			return Introspection{}, errors.New("use only client=ID, iss=ISSUER, aud=AUDIENCE and " +
				"method=client_secret_post after the endpoint, at most once each, not " + name)
		}
		*at = value
	}
	out.Method = IntrospectionMethod(method)
	return out, nil
}
