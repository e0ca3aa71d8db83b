package snapshot

import (
	"errors"
	"strings"
)

// Introspection is the endpoint that checks a version's opaque tokens (RFC 7662),
// without the client secret.
type Introspection struct {
	Endpoint  string // http or https URL
	Method    IntrospectionMethod
	ClientID  string // of the gateway at the endpoint; "" if the endpoint requires none
	HasSecret bool   // there is a client secret
	Issuer    string // the iss that responses must have; "" for any
	Audience  string // an aud that responses must have; "" for any
}

// IntrospectionMethod says how the client authenticates at the endpoint.
type IntrospectionMethod string

// The methods, by their names in RFC 7591, 2.
const (
	SecretBasic IntrospectionMethod = "client_secret_basic" // HTTP Basic
	SecretPost  IntrospectionMethod = "client_secret_post"  // in the form
)

// Line returns the form that people type: the endpoint, and after it the other parts,
// such as client=ID. No part may contain a blank.
func (i Introspection) Line() string {
	line := i.Endpoint
	parts := []struct{ name, value string }{
		{"client", i.ClientID},
		{"iss", i.Issuer},
		{"aud", i.Audience},
	}
	for _, part := range parts {
		if part.value != "" {
			line += " " + part.name + "=" + part.value
		}
	}
	if i.Method == SecretPost {
		line += " method=" + string(i.Method)
	}
	return line
}

// ParseIntrospection parses the form that Line returns. It does not validate the
// parts.
func ParseIntrospection(line string) (Introspection, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Introspection{}, errors.New("write the introspection as ENDPOINT, followed by client=ID, iss=ISSUER, " +
			"aud=AUDIENCE and method=client_secret_post where needed")
	}
	out := Introspection{Endpoint: words[0]}
	method := ""
	places := map[string]*string{"client": &out.ClientID, "iss": &out.Issuer, "aud": &out.Audience, "method": &method}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		at := places[name]
		if at == nil || value == "" || *at != "" {
			return Introspection{}, errors.New("only client=ID, iss=ISSUER, aud=AUDIENCE and " +
				"method=client_secret_post may follow the endpoint, each once, not " + name)
		}
		*at = value
	}
	out.Method = IntrospectionMethod(method)
	return out, nil
}
