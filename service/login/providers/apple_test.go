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

// Apple demands response_mode=form_post of requests with scopes; others get none, because not all know it.
func TestAuthorizeURL_apple(t *testing.T) {
	t.Parallel()
	for issuer, want := range map[string]string{
		"https://appleid.apple.com": "form_post", "https://appleid.apple.com.example": "",
	} {
		set := &providers.Set{HTTP: &http.Client{Transport: documented(issuer)}}
		address, err := set.AuthorizeURL(t.Context(), configOf(providers.OIDC, issuer), sent)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		query := to.Query()
		if got := query.Get("response_mode"); got != want || query.Get("response_type") != "code" ||
			!strings.HasPrefix(address, issuer+"/auth?") {
			t.Errorf("%s: response_mode %q, want %q, at %s", issuer, got, want, address)
		}
	}
}
