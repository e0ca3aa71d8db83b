package providers_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/service/login/providers"
)

// documented answers each request with the discovery document of an issuer.
type documented string

func (issuer documented) RoundTrip(*http.Request) (*http.Response, error) {
	at := string(issuer)
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{"issuer":"` + at + `","authorization_endpoint":"` + at + `/auth",
			"token_endpoint":"` + at + `/token","jwks_uri":"` + at + `/keys"}`)),
	}, nil
}

// The parameter is sent for form_post alone, because not every provider knows it.
func TestAuthorizeURL_responseMode(t *testing.T) {
	t.Parallel()
	const issuer = "https://appleid.apple.com"
	set := &providers.Set{HTTP: &http.Client{Transport: documented(issuer)}}
	for mode, want := range map[string]string{providers.FormPost: "form_post", providers.Query: "", "": ""} {
		config := configOf(providers.OIDC, issuer)
		config.ResponseMode = mode
		address, err := set.AuthorizeURL(t.Context(), config, sent)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		query := to.Query()
		if got := query.Get("response_mode"); got != want || query.Has("response_mode") != (want != "") ||
			query.Get("response_type") != "code" || !strings.HasPrefix(address, issuer+"/auth?") {
			t.Errorf("%q: response_mode %q, want %q, at %s", mode, got, want, address)
		}
	}
}

// Apple demands form_post of requests with scopes.
func TestDefaultResponseMode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, issuer, want string }{
		{"oidc", "https://appleid.apple.com", "form_post"},
		{"oidc", "https://appleid.apple.com.example", "query"},
		{"auth0", "https://appleid.apple.com", ""},
		{"google", "", ""},
	} {
		if got := providers.DefaultResponseMode(tt.kind, tt.issuer); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.kind, tt.issuer, got, tt.want)
		}
	}
}
