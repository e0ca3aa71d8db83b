package snapshot

import (
	"errors"
	"strings"
)

// Introspection is where a version asks about tokens that say nothing themselves
// (RFC 7662); never with its secret.
type Introspection struct {
	Endpoint  string // http or https URL
	Method    IntrospectionMethod
	ClientID  string // whom the endpoint knows us as; "" for one that asks nobody
	HasSecret bool   // there is a secret that goes with ClientID
	Issuer    string // that answers have to name; "" for whichever
	Audience  string // that has to be among those that answers name; "" for whichever
}

// IntrospectionMethod says how the endpoint is told who asks. The question itself is
// always a POST.
type IntrospectionMethod string

// The methods, by their names in RFC 7591, 2.
const (
	SecretBasic IntrospectionMethod = "client_secret_basic" // HTTP Basic
	SecretPost  IntrospectionMethod = "client_secret_post"  // in the form
)

// Line writes it as people type it: the endpoint, and behind it what else there is,
// such as client=ID. No part may hold a blank.
func (i Introspection) Line() string {
	line := i.Endpoint
	for _, part := range []struct{ name, value string }{{"client", i.ClientID}, {"iss", i.Issuer}, {"aud", i.Audience}} {
		if part.value != "" {
			line += " " + part.name + "=" + part.value
		}
	}
	if i.Method == SecretPost {
		line += " method=" + string(i.Method)
	}
	return line
}

// ParseIntrospection reads what Line writes. It takes the line apart; whether there
// can be such an endpoint is for others to say.
func ParseIntrospection(line string) (Introspection, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Introspection{}, errors.New("the introspection is written ENDPOINT, with client=ID, iss=ISSUER, " +
			"aud=AUDIENCE and method=client_secret_post behind it where needed")
	}
	out := Introspection{Endpoint: words[0]}
	method := ""
	places := map[string]*string{"client": &out.ClientID, "iss": &out.Issuer, "aud": &out.Audience, "method": &method}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		at := places[name]
		if at == nil || value == "" || *at != "" {
			return Introspection{}, errors.New("behind the endpoint come client=ID, iss=ISSUER, aud=AUDIENCE and " +
				"method=client_secret_post, each at most once, and not " + name)
		}
		*at = value
	}
	out.Method = IntrospectionMethod(method)
	return out, nil
}
