package federation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"postern/platform/egress"
	"postern/platform/federation"
)

var identities = []struct {
	name   string
	policy federation.Policy
	claims string
	want   federation.Identity
	err    error
}{
	{
		name:   "verified",
		claims: `{"sub":"1","email":"ana@example.com","email_verified":true}`,
		want:   federation.Identity{Subject: "1", Email: "ana@example.com", EmailVerified: true},
	},
	{
		name:   "verified, as a string",
		claims: `{"sub":"1","email":"ana@example.com","email_verified":"true"}`,
		want:   federation.Identity{Subject: "1", Email: "ana@example.com", EmailVerified: true},
	},
	{
		name:   "missing email_verified",
		policy: federation.Policy{RefuseUnverifiedEmail: true},
		claims: `{"sub":"1","email":"ana@example.com"}`,
		want:   federation.Identity{Subject: "1", Email: "ana@example.com"},
	},
	{
		name:   "email_verified null",
		policy: federation.Policy{RefuseUnverifiedEmail: true},
		claims: `{"sub":"1","email":"ana@example.com","email_verified":null}`,
		want:   federation.Identity{Subject: "1", Email: "ana@example.com"},
	},
	{
		name:   "unverified, accepted",
		claims: `{"sub":"1","email":"ana@example.com","email_verified":false}`,
		want:   federation.Identity{Subject: "1", Email: "ana@example.com"},
	},
	{
		name:   "unverified, refused",
		policy: federation.Policy{RefuseUnverifiedEmail: true},
		claims: `{"sub":"1","email":"ana@example.com","email_verified":false}`,
		err:    federation.ErrEmailUnverified,
	},
	{
		name:   "neither true nor false, refused",
		policy: federation.Policy{RefuseUnverifiedEmail: true},
		claims: `{"sub":"1","email":"ana@example.com","email_verified":1}`,
		err:    federation.ErrEmailUnverified,
	},
	{
		name:   "username as name",
		policy: federation.Policy{UsernameAsName: true},
		claims: `{"sub":"1","preferred_username":"ana"}`,
		want:   federation.Identity{Subject: "1", Name: "ana"},
	},
	{
		name:   "username unused",
		claims: `{"sub":"1","preferred_username":"ana"}`,
		want:   federation.Identity{Subject: "1"},
	},
	{
		name:   "no subject",
		claims: `{"email":"ana@example.com"}`,
		err:    federation.AnswerError("its ID token has no usable subject"),
	},
}

func TestIdentify_policy(t *testing.T) {
	for _, tt := range identities {
		t.Run(tt.name, func(t *testing.T) {
			var claims federation.Claims
			if err := json.Unmarshal([]byte(tt.claims), &claims); err != nil {
				t.Fatal(err)
			}
			client := federation.Client{Policy: tt.policy}
			got, err := client.Identify(t.Context(), &federation.Issuer{}, claims, &oauth2.Token{})
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestCheckIssuer(t *testing.T) {
	const issuer = "https://id.example"
	tests := []struct {
		name  string
		sends bool
		iss   string
		ok    bool
	}{
		{"missing", false, "", true},
		{"missing where it is promised", true, "", false},
		{"the issuer", true, issuer, true},
		{"another", false, "https://evil.example", false},
		{"with a slash", false, issuer + "/", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := (&federation.Issuer{SendsIssuer: tt.sends}).CheckIssuer(tt.iss, issuer)
			if (err == nil) != tt.ok {
				t.Errorf("error %v, want ok = %t", err, tt.ok)
			}
		})
	}
}

func TestGitHub_checkIssuer(t *testing.T) {
	server := federation.GitHub{Site: "https://github.com"}
	tests := []struct {
		name   string
		policy federation.Policy
		iss    string
		ok     bool
	}{
		{"missing", federation.Policy{}, "", true},
		{"documented", federation.Policy{}, "https://github.com/login/oauth", true},
		{"site", federation.Policy{}, "https://github.com", false},
		{"site, by policy", federation.Policy{GitHubSiteIssuer: true}, "https://github.com", true},
		{"another", federation.Policy{GitHubSiteIssuer: true}, "https://evil.example", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := server.CheckIssuer(tt.iss, tt.policy); (err == nil) != tt.ok {
				t.Errorf("error %v, want ok = %t", err, tt.ok)
			}
		})
	}
}

// document answers as an https issuer whose userinfo endpoint uses http.
type document struct{}

func (document) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	err := json.NewEncoder(w).Encode(map[string]string{
		"issuer":                 "https://id.example",
		"authorization_endpoint": "https://id.example/auth",
		"token_endpoint":         "https://id.example/token",
		"jwks_uri":               "https://id.example/keys",
		"userinfo_endpoint":      "http://id.internal/userinfo",
	})
	return w.Result(), err
}

type unreachable struct{ error }

func (u unreachable) RoundTrip(*http.Request) (*http.Response, error) { return nil, u.error }

// A caller learns why a document cannot be read, in a text that is short whatever the cause says.
func TestDiscover_unreachable(t *testing.T) {
	cause := fmt.Errorf("%w: %s", egress.ErrForbidden, strings.Repeat("x", 10_000))
	client := federation.Bounded(&http.Client{Transport: unreachable{cause}})
	_, err := federation.Discover(t.Context(), client, "https://id.example", "", federation.Policy{})
	if !errors.Is(err, egress.ErrForbidden) || len(err.Error()) > 300 {
		t.Errorf("got %.400v, want a short error in whose chain is %v", err, egress.ErrForbidden)
	}
	if strings.Contains(err.Error(), "id.example") {
		t.Errorf("the address is in %v", err)
	}
}

func TestDiscover_endpointWithoutHTTPS(t *testing.T) {
	client := federation.Bounded(&http.Client{Transport: document{}})
	discover := func(policy federation.Policy) error {
		_, err := federation.Discover(t.Context(), client, "https://id.example", "", policy)
		return err
	}
	if _, ok := errors.AsType[federation.AnswerError](discover(federation.Policy{})); !ok {
		t.Error("a customer's issuer may not name it")
	}
	if err := discover(federation.Policy{TrustEndpoints: true}); err != nil {
		t.Errorf("an operator's issuer may: %v", err)
	}
}
