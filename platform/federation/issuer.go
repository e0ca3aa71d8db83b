package federation

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// discoveryTimeout bounds a request for a discovery document, and one for a key set.
// Package gateway/bearer allows as much for the two.
const discoveryTimeout = 5 * time.Second

// Issuer is the metadata that an OpenID Connect issuer publishes.
type Issuer struct {
	Name        string   // the issuer identifier that its document states
	SendsIssuer bool     // it sends iss to the redirect URI (RFC 9207, 3)
	AuthMethods []string // of its token endpoint; none for its default, client_secret_basic
	JWKSURI     string
	UserInfo    string // "" if there is none
	EndSession  string // where people sign out, "" if missing or less safe than the issuer

	Introspection            string // "" if there is none (RFC 8414, 2)
	IntrospectionAuthMethods []string

	endpoint oauth2.Endpoint
	keys     oidc.KeySet
}

// metadata has the members of a discovery document that go-oidc doesn't read.
type metadata struct {
	Issuer      string   `json:"issuer"`
	SendsIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	JWKSURI     string   `json:"jwks_uri"`
	EndSession  string   `json:"end_session_endpoint"` // RP-Initiated Logout 1.0, 2.1

	Introspection            string   `json:"introspection_endpoint"`
	IntrospectionAuthMethods []string `json:"introspection_endpoint_auth_methods_supported"`
}

// Discover reads the discovery document of the issuer at an address (Discovery 1.0, 4). name is the issuer that the
// document must state; "" for the address. It takes five seconds at most and does not end with ctx, because callers
// keep and share the result. The error is an AnswerError if the document is refused, and any other if it can't be read.
func Discover(ctx context.Context, client *http.Client, address, name string, policy Policy) (*Issuer, error) {
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), exactClient(client))
	ask := ctx
	if name != "" {
		ask = oidc.InsecureIssuerURLContext(ctx, name)
	}
	ask, stop := context.WithTimeout(ask, discoveryTimeout)
	defer stop()
	provider, err := oidc.NewProvider(ask, address)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", shortError{withoutURL(err)})
	}
	var more metadata
	if err := provider.Claims(&more); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	if name != "" && more.Issuer != name { // go-oidc skips the comparison for InsecureIssuerURLContext
		return nil, AnswerError("its discovery document names a different issuer")
	}
	out := &Issuer{
		Name:                     more.Issuer,
		SendsIssuer:              more.SendsIssuer,
		AuthMethods:              more.AuthMethods,
		JWKSURI:                  more.JWKSURI,
		UserInfo:                 provider.UserInfoEndpoint(),
		Introspection:            more.Introspection,
		IntrospectionAuthMethods: more.IntrospectionAuthMethods,
		endpoint:                 provider.Endpoint(),
		keys:                     NewKeySet(KeyClient(client), more.JWKSURI, nil),
	}
	if AsSafeAs(more.EndSession, address) { // signing in does not depend on it
		out.EndSession = more.EndSession
	}
	return out, out.checkEndpoints(address, policy)
}

func (i *Issuer) checkEndpoints(address string, policy Policy) error {
	if policy.TrustEndpoints {
		u, err := url.Parse(i.endpoint.AuthURL)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
			return AnswerError("its authorization endpoint isn't an HTTP URL")
		}
		return nil
	}
	for _, endpoint := range i.Endpoints() {
		if !AsSafeAs(endpoint, address) {
			return AnswerError("its discovery document names an endpoint without https")
		}
	}
	return nil
}

// Endpoints lists every URL of the document that Postern calls or sends people to.
func (i *Issuer) Endpoints() []string {
	list := []string{i.endpoint.AuthURL, i.endpoint.TokenURL, i.JWKSURI}
	for _, optional := range []string{i.UserInfo, i.Introspection} {
		if optional != "" {
			list = append(list, optional)
		}
	}
	return list
}

// AsSafeAs reports whether the endpoint uses https, or http where the issuer does too.
func AsSafeAs(endpoint, issuer string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return false
	}
	asked, err := url.Parse(issuer)
	return u.Scheme == "https" || (err == nil && u.Scheme == "http" && asked.Scheme == "http")
}

// Endpoint returns where a client is authorized and codes are exchanged, with one
// authentication method: golang.org/x/oauth2 would otherwise try one after the other
// with a code that can be used once.
func (i *Issuer) Endpoint(hasSecret bool) oauth2.Endpoint {
	endpoint := i.endpoint
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // client_secret_basic, the default (Discovery, 3)
	if !hasSecret || (len(i.AuthMethods) > 0 && !slices.Contains(i.AuthMethods, "client_secret_basic")) {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return endpoint
}

// CheckIssuer compares the iss that came with a code, "" for none, with the issuer that
// must have sent it (RFC 9207, 2.4).
func (i *Issuer) CheckIssuer(iss, want string) error {
	if iss == "" && i.SendsIssuer || iss != "" && iss != want {
		return AnswerError("it names a different issuer")
	}
	return nil
}
