package web

import (
	"net/url"
	"slices"
)

// OAuthParams reads parameters, of which none may be sent twice (RFC 6749, 3.1).
type OAuthParams struct {
	values   url.Values
	Repeated bool
}

func ParseOAuthParams(values url.Values) *OAuthParams {
	return &OAuthParams{
		values:   values,
		Repeated: slices.ContainsFunc(names(values), func(name string) bool { return len(values[name]) > 1 }),
	}
}

func names(values url.Values) []string {
	list := make([]string, 0, len(values))
	for name := range values {
		list = append(list, name)
	}
	return list
}

func (o *OAuthParams) Get(name string) string { return o.values.Get(name) }
