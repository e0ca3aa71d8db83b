package api_test

import (
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// withPairs is the body for a proxy that takes tokens of these pairs.
func withPairs(pairs string) string {
	return `{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":["jwt"],` +
		`"jwt":{"allowed_pairs":[` + pairs + `]}}}`
}

// refusedIssuers are mistakes in allowed_pairs.
var refusedIssuers = []struct{ name, body, code, pointer string }{
	{
		"an issuer without TLS",
		withPairs(`{"iss":"http://accounts.example.com","aud":"x"}`),
		"invalid_url",
		"/jwt/allowed_pairs/0/iss",
	},
	{
		"an issuer with a query",
		withPairs(`{"iss":"https://accounts.example.com?x","aud":"x"}`),
		"invalid_url",
		"/jwt/allowed_pairs/0/iss",
	},
	{
		"an issuer without an audience",
		withPairs(`{"iss":"https://8.8.8.8"}`),
		"invalid_audience",
		"/jwt/allowed_pairs/0/aud",
	},
	{
		"an issuer at a metadata address",
		withPairs(`{"iss":"https://169.254.169.254","aud":"x"}`),
		"target_forbidden",
		"/jwt/allowed_pairs/0/iss",
	},
	{
		"an issuer at a port of another protocol",
		withPairs(`{"iss":"https://8.8.8.8:6379","aud":"x"}`),
		"port_forbidden",
		"/jwt/allowed_pairs/0/iss",
	},
	{
		"keys at a private address",
		withPairs(`{"iss":"https://8.8.8.8","aud":"x","jwks_url":"https://10.0.0.1/keys"}`),
		"target_forbidden",
		"/jwt/allowed_pairs/0/jwks_url",
	},
	{
		"keys in a file",
		withPairs(`{"iss":"https://8.8.8.8","aud":"x","jwks_url":"file:///etc/passwd"}`),
		"invalid_url",
		"/jwt/allowed_pairs/0/jwks_url",
	},
	{
		"an unknown tenant",
		withPairs(`{"iss":"https://8.8.8.8","aud":"x","tenant":"acme"}`),
		"unknown_tenant",
		"/jwt/allowed_pairs/0/tenant",
	},
	{
		"a pair twice",
		withPairs(`{"iss":"https://8.8.8.8","aud":"x"},{"iss":"https://8.8.8.8","aud":"x","tenant":"default"}`),
		"duplicate",
		"/jwt/allowed_pairs/1",
	},
	{
		"21 pairs",
		withPairs(strings.Repeat(`{"iss":"https://8.8.8.8","aud":"x"},`, 20) + `{"iss":"https://8.8.8.8","aud":"x"}`),
		"too_many_pairs",
		"/jwt/allowed_pairs",
	},
	{
		"pairs without the method",
		strings.Replace(withPairs(`{"iss":"https://8.8.8.8","aud":"x"}`), `["jwt"]`, `["api_key"]`, 1),
		"method_missing",
		"/jwt/allowed_pairs",
	},
	{
		"falling back without keys",
		strings.Replace(
			withPairs(`{"iss":"https://8.8.8.8","aud":"x"}`),
			`"mode"`, `"keyless":"owner_fallback","mode"`, 1,
		),
		"invalid_keyless",
		"/keyless",
	},
}

func TestCreateProxy_refusedIssuers(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	header := controlplane.SignUpOwner(t, s)
	for _, tc := range refusedIssuers {
		t.Run(tc.name, func(t *testing.T) {
			got := controlplane.Call(t, s.Handler(), "POST", "/proxy", "", tc.body, header...)
			want := "/requests_auth" + tc.pointer + " " + tc.code
			if where := strings.Join(got.PointerCodes(), ", "); got.Status != 422 || where != want {
				t.Errorf("%d %s, want 422 %s", got.Status, where, want)
			}
		})
	}
}
