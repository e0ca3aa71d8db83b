package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// AccountSignUp says who may create an account.
type AccountSignUp string

// The values of --account-signup. The default is invite: closed would keep out the second
// user, and open admits everyone who finds the address.
const (
	SignUpOpen   AccountSignUp = "open"   // everyone
	SignUpInvite AccountSignUp = "invite" // with an invitation to a team, or the claim code of a workspace
	SignUpClosed AccountSignUp = "closed" // no one
)

// SignIn has the identity providers that people can sign in with. One without a client
// id is not offered.
type SignIn struct {
	OIDC   OIDC
	GitHub GitHub
}

// OIDC is one OpenID Connect issuer.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret Secret // "" for a public client
	Name         string // on the sign-in button
}

// GitHub is an OAuth app of github.com or of a GitHub Enterprise server.
type GitHub struct {
	ClientID     string
	ClientSecret Secret
	URL          string // of the sign-in pages, without a trailing slash
	APIURL       string // without a trailing slash
}

func signInSettings() []setting {
	return []setting{
		{
			"account-signup",
			"invite",
			"who can create an account: open (anyone), invite (people with an invitation or an unclaimed workspace) " +
				"or closed",
			assignAccountSignUp,
		},
		{
			"signin-oidc-issuer",
			"",
			"OpenID Connect issuer that people can sign in with, such as https://id.example.com; the client's " +
				"redirect URI is <public-url>/signin/oidc/callback",
			text(func(c *Config) *string { return &c.SignIn.OIDC.Issuer }),
		},
		{
			"signin-oidc-client-id",
			"",
			"client ID for --signin-oidc-issuer",
			text(func(c *Config) *string { return &c.SignIn.OIDC.ClientID }),
		},
		{
			"signin-oidc-client-secret",
			"",
			"client secret for --signin-oidc-issuer; empty for a public client",
			secret(func(c *Config) *Secret { return &c.SignIn.OIDC.ClientSecret }),
		},
		{
			"signin-oidc-name",
			"Single sign-on",
			"name of --signin-oidc-issuer on the sign-in button",
			text(func(c *Config) *string { return &c.SignIn.OIDC.Name }),
		},
		{
			"signin-github-client-id",
			"",
			"client ID of a GitHub OAuth app that people can sign in with; its callback URL is " +
				"<public-url>/signin/github/callback",
			text(func(c *Config) *string { return &c.SignIn.GitHub.ClientID }),
		},
		{
			"signin-github-client-secret",
			"",
			"client secret for --signin-github-client-id",
			secret(func(c *Config) *Secret { return &c.SignIn.GitHub.ClientSecret }),
		},
		{
			"signin-github-url",
			"https://github.com",
			"URL of GitHub, or of a GitHub Enterprise server",
			text(func(c *Config) *string { return &c.SignIn.GitHub.URL }),
		},
		{
			"signin-github-api-url",
			"https://api.github.com",
			"URL of GitHub's API; for a GitHub Enterprise server, https://<host>/api/v3",
			text(func(c *Config) *string { return &c.SignIn.GitHub.APIURL }),
		},
	}
}

func assignAccountSignUp(c *Config, v string) error {
	switch p := AccountSignUp(v); p {
	case SignUpOpen, SignUpInvite, SignUpClosed:
		c.AccountSignUp = p
		return nil
	}
	return fmt.Errorf("must be open, invite or closed, not %q", v)
}

// checkSignIn validates the identity providers, and trims the slashes at the end of
// their URLs. Client secrets and codes are sent there, so they must be https except on
// this machine.
func (c *Config) checkSignIn(report func(setting, format string, args ...any)) {
	oidc, github := &c.SignIn.OIDC, &c.SignIn.GitHub
	check := func(setting, raw string) {
		u, err := url.Parse(raw)
		switch {
		case err != nil,
			u.Host == "",
			u.User != nil,
			u.RawQuery != "",
			u.Fragment != "",
			u.Scheme != "https" && u.Scheme != "http":
			report(setting, "must be a URL such as https://id.example.com")
		case u.Scheme == "http" && !onThisMachine(u.Hostname()):
			report(setting, "must use https, because client secrets and codes are sent there")
		}
	}
	if (oidc.Issuer == "") != (oidc.ClientID == "") {
		report("--signin-oidc-issuer", "set the issuer and the client ID together")
	}
	if oidc.Issuer != "" { // a slash at its end is part of an issuer's name
		check("--signin-oidc-issuer", oidc.Issuer)
	}
	if strings.TrimSpace(oidc.Name) == "" {
		report("--signin-oidc-name", "set a name for the button")
	}
	if (github.ClientID == "") != (github.ClientSecret == "") {
		report("--signin-github-client-id", "set the client ID and the client secret together")
	}
	if github.ClientID != "" {
		check("--signin-github-url", github.URL)
		check("--signin-github-api-url", github.APIURL)
		github.URL, github.APIURL = strings.TrimRight(github.URL, "/"), strings.TrimRight(github.APIURL, "/")
	}
}

func onThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}
