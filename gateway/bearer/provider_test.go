package bearer_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/idp"
)

// The tokens of a certified OpenID Connect provider are accepted for their audience, by
// its discovery document, before and after it rotates its keys.
func TestVerify_realProvider(t *testing.T) {
	provider := idp.StartCertified(t)
	redirect := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(redirect.Close)
	registered := provider.Register(t, redirect.URL+"/back")
	config := oauth2.Config{
		ClientID:     registered.ID,
		ClientSecret: registered.Secret,
		RedirectURL:  redirect.URL + "/back",
		Scopes:       []string{"openid"},
		Endpoint:     oauth2.Endpoint{AuthURL: provider.Issuer + "/auth", TokenURL: provider.Issuer + "/token"},
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	token := func() string {
		t.Helper()
		ctx := oidc.ClientContext(t.Context(), client)
		verifier := oauth2.GenerateVerifier()
		callback := provider.SignIn(t, config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier)), "alice")
		got, err := config.Exchange(ctx, callback.Query().Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			t.Fatal(err)
		}
		id, _ := got.Extra("id_token").(string)
		return id
	}
	pair := snapshot.TokenIssuer{Issuer: provider.Issuer, Audience: registered.ID}
	v := newVerifier(t)
	first := token()
	at := time.Now()
	got, denial := verify(v, first, at, pair)
	wantDenial(t, "its own token", denial, policy.Denial{})
	if got.Subject != "alice" || got.Issuer != provider.Issuer {
		t.Errorf("the token says %+v", got)
	}
	_, denial = verify(v, first, at, snapshot.TokenIssuer{Issuer: provider.Issuer, Audience: "another client"})
	wantDenial(t, "for another audience", denial, policy.InvalidToken)
	_, denial = verify(v, first, at.Add(2*time.Hour), pair)
	wantDenial(t, "after its end", denial, policy.InvalidToken)

	provider.Rotate(t)
	second := token()
	if kidOf(t, first) == kidOf(t, second) {
		t.Fatal("the issuer signs with the key that it had before")
	}
	at = at.Add(31 * time.Second)
	_, denial = verify(v, second, at, pair)
	wantDenial(t, "signed with the new key", denial, policy.Denial{})
	_, denial = verify(v, first, at, pair)
	wantDenial(t, "signed with the old key, still published", denial, policy.Denial{})
}

func kidOf(t *testing.T, token string) string {
	t.Helper()
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	return signed.Signatures[0].Protected.KeyID
}
