package federated

import (
	"net/url"
	"testing"

	"postern/platform/config"
	"postern/platform/federation"
)

// Apple demands form_post of requests for an email address; others may not know the parameter.
func TestAuthorizeURL_responseMode(t *testing.T) {
	for issuer, want := range map[string]string{
		"https://appleid.apple.com": "form_post", "https://appleid.apple.com.example": "",
	} {
		p := newOpenID(config.OIDC{Issuer: issuer, ClientID: "postern"})
		p.issuer = &federation.Issuer{}
		address, err := p.AuthorizeURL(t.Context(), federation.Attempt{})
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(address)
		if err != nil || to.Query().Get("response_mode") != want || to.Query().Get("client_id") != "postern" {
			t.Errorf("%s: asked with %s, %v; want response_mode %q", issuer, address, err, want)
		}
	}
}
