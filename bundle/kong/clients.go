package kong

import (
	"slices"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// clientDoc is an app client of the project. The plugin accepts its tokens until they expire.
type clientDoc struct {
	ID       string                        `json:"id"`
	Tenant   string                        `json:"tenant"`
	Machine  bool                          `json:"machine"`
	Consumer string                        `json:"consumer"`
	Frozen   bool                          `json:"frozen"`
	Keys     []clientKeyDoc                `json:"keys"`
	Upstream map[string]snapshot.TokenType `json:"upstream"`
}

type clientKeyDoc struct {
	ID        string   `json:"id"`
	Algorithm string   `json:"alg"`
	Until     *float64 `json:"until,omitempty"` // Unix seconds
	JWK       string   `json:"jwk"`
}

// clients writes the settings with which the plugin accepts the tokens of app clients.
func (c *configWriter) clients() {
	p := c.b.Project
	if !acceptsOwnTokens(p) {
		return
	}
	c.out.Raw(",\n      \"clients\": ")
	c.out.Open("{")
	for _, one := range p.Clients {
		c.out.Next("        ")
		c.out.Value(one.Issuer)
		c.out.Raw(": ")
		c.out.Value(clientDocOf(p, one))
	}
	c.out.Raw("\n      }")
	if p.API.Audience != "" {
		c.out.Raw(",\n      \"audience\": ")
		c.out.Value(p.API.Audience)
	}
	c.out.Raw(",\n      \"realm\": ")
	c.out.Value(realmDoc{Issuer: realmIssuer, Keys: realmKeys})
	c.refused()
}

// The environment variables of Kong that say where the exported realm is served.
const (
	realmIssuer = "LOGIN_ISSUER" // "" is not trusted
	realmKeys   = "LOGIN_KEYS"   // URL of its keys; "": discovered
)

// realmDoc names the variables about the exported realm.
type realmDoc struct {
	Issuer string `json:"issuer"`
	Keys   string `json:"keys"`
}

func clientDocOf(p *snapshot.Project, one snapshot.AppClient) clientDoc {
	doc := clientDoc{
		ID:       one.ID,
		Tenant:   one.TenantID,
		Machine:  one.Machine,
		Consumer: policy.ConsumerID(p.ID, one.ID),
		Frozen:   one.Frozen,
		Keys:     []clientKeyDoc{},
		Upstream: map[string]snapshot.TokenType{},
	}
	for _, k := range one.Keys {
		key := clientKeyDoc{ID: k.ID, Algorithm: k.Algorithm, JWK: k.JWK}
		if !k.ExpiresAt.IsZero() {
			until := seconds(k.ExpiresAt)
			key.Until = &until
		}
		doc.Keys = append(doc.Keys, key)
	}
	for _, provider := range one.Providers {
		doc.Upstream[provider.ID] = provider.UpstreamToken
	}
	return doc
}

// refused writes the users and sessions whose tokens are refused, and for users who have left groups the second up to
// which their tokens are refused.
func (c *configWriter) refused() {
	p := c.b.Project
	if len(p.Barred) == 0 && len(p.EndedSessions) == 0 && len(p.GroupsLeft) == 0 {
		return
	}
	c.out.Raw(",\n      \"refused\": {\"users\": ")
	c.out.Open("{")
	for _, user := range p.Barred {
		c.out.Next("        ")
		c.out.Value(user.ID)
		if user.Deleted {
			c.out.Raw(": \"deleted\"")
		} else {
			c.out.Raw(": \"frozen\"")
		}
	}
	c.out.Raw("}, \"sessions\": ")
	c.out.Open("{")
	for _, id := range p.EndedSessions {
		c.out.Next("        ")
		c.out.Value(id)
		c.out.Raw(": true")
	}
	c.out.Raw("}")
	if len(p.GroupsLeft) > 0 {
		c.out.Raw(", \"left\": ")
		c.out.Open("{")
		for _, one := range p.GroupsLeft {
			c.out.Next("        ")
			c.out.Value(one.User)
			c.out.Raw(": ")
			c.out.Value(one.At)
		}
		c.out.Raw("}")
	}
	c.out.Raw("}")
}

// acceptsOwnTokens reports whether a version accepts tokens of app clients.
func acceptsOwnTokens(p *snapshot.Project) bool {
	return len(p.Clients) > 0 && slices.ContainsFunc(p.Versions, func(v snapshot.Version) bool {
		return v.Access.Allows(snapshot.JWT)
	})
}

// judgeLogin returns the place of an app client or provider, and what happens to its tokens.
func judgeLogin(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	if !acceptsOwnTokens(b.Project) && s.Provider == nil {
		return bundle.Verdict{}
	}
	at := bundle.At(gatewayFile, "/plugins/0/config/clients/%s", bundle.Escape(s.Client.Issuer))
	switch {
	case s.Provider == nil && s.Client.Machine:
		return bundle.Verdict{Reason: "machine_realm", Target: at}
	case s.Provider == nil && s.Client.Settings != nil && s.Client.Settings.SkipsPKCE():
		return bundle.Verdict{Reason: "realm_when_sent", Target: at}
	case s.Provider == nil:
		return bundle.Verdict{Reason: "realm", Target: at}
	case !acceptsOwnTokens(b.Project):
		return bundle.Verdict{Reason: bundle.ProviderReason(s.Provider), Target: providerTarget(b, s.Provider)}
	}
	reason := "realm"
	switch {
	case s.Provider.ClientToken == snapshot.ProviderToken:
		reason = "own_tokens"
	case s.Provider.UpstreamToken == snapshot.ProviderAccessToken, s.Provider.UpstreamToken == snapshot.ProviderIDToken:
		reason = "sealed_tokens"
	case s.Provider.Type == "facebook":
		reason = "realm_facebook"
	}
	if s.Provider.Settings != nil && s.Provider.Settings.ResponseMode == "form_post" {
		reason += "_form_post"
	}
	return bundle.Verdict{Reason: reason, Target: providerTarget(b, s.Provider)}
}

func loginFates() []bundle.Fate {
	const tokens = "Tokens that the app client has received keep working until they expire. Changes to users and " +
		"sessions after the export have no effect on them. Tokens that Postern issues later are also accepted if " +
		"they are signed with the same keys. "
	realm := bundle.Fate{
		Reason: "realm",
		Status: bundle.Approximate,
		How:    "the `postern-auth` plugin, its public keys in `clients`; a client of `auth/keycloak-realm.json`",
		Note: tokens + "After the tokens have expired, users sign in to the exported realm. They keep their IDs and " +
			"groups, and the realm's tokens are accepted. At worst, all users must sign in again, on a page that " +
			"offers every app client's providers. They stay signed in for the longest refresh token lifetime of any " +
			"app client. Client secrets are new, and group admins can't manage members through the application. The " +
			"`profile` scope returns the claims from the time of the export, without `updated_at`. " +
			"`preferred_username` is the user's ID. If the given name and family name together don't make up the " +
			"full name, `given_name` is the full name and `family_name` is omitted. Later changes at the provider " +
			"don't appear in tokens.",
		Remedy: "Run ./start.sh --with-login, or import the realm into your own Keycloak and set LOGIN_ISSUER in " +
			"gateway/.env. Then change the issuer in your application. Its client ID doesn't change.",
	}
	whenSent := realm
	whenSent.Reason = "realm_when_sent"
	whenSent.Note += " The realm also accepts requests without PKCE. At worst, it accepts a code verifier for a code " +
		"that was requested without a challenge."
	return []bundle.Fate{
		bundle.HostedLogin,
		bundle.MachineLogin,
		realm,
		whenSent,
		{
			Reason: "machine_realm",
			Status: bundle.Approximate,
			How:    "the `postern-auth` plugin, its public keys in `clients`; a client of `auth/keycloak-realm.json`",
			Note: tokens + "After the tokens have expired, the machine gets tokens from the exported realm, with the " +
				"same client ID. At worst, it can't get tokens until it has the new secret and the new issuer URL.",
			Remedy: "Fill in the machine's secret in gateway/.env, run ./start.sh --with-login, and give the machine " +
				"this secret and the realm's URL.",
		},
	}
}

func providerFates() []bundle.Fate {
	signIn := bundle.Fate{
		Reason: "realm",
		Status: bundle.Approximate,
		How:    "an identity provider of `auth/keycloak-realm.json`",
		Note: "Users sign in to the exported realm with the provider and are recognized as before. At worst, no one " +
			"can sign in until you register the callback URL and fill in the secret. The realm doesn't choose the " +
			"provider based on the user's email domain.",
		Remedy: "Add the callback URL in callbacks.md to your app at the provider, and set the app's " +
			"secret in gateway/.env.",
	}
	facebook := signIn
	facebook.Reason = "realm_facebook"
	facebook.Note += " Postern checks the token from each sign-in with Facebook's `debug_token` endpoint, which " +
		"requires the token in the URL, as Facebook's documentation describes. In the exported realm, Keycloak " +
		"decides how to check the token."
	own := bundle.Fate{
		Reason: "own_tokens",
		Status: bundle.Lossy,
		How:    "an identity provider of `auth/keycloak-realm.json`; its own tokens are refused",
		Note: "Browsers get the provider's own tokens, and the hosted gateway has the provider check them on every " +
			"call. These tokens get 401 from the exported gateway, unless they are JSON Web Tokens from an issuer in " +
			"`issuers`. Users who sign in to the exported realm get the realm's tokens, which are accepted.",
		Remedy: signIn.Remedy,
	}
	sealed := bundle.Fate{
		Reason: "sealed_tokens",
		Status: bundle.Lossy,
		How:    "an identity provider of `auth/keycloak-realm.json`; upstreams don't get its token",
		Note: "Upstreams get the provider's token, which is encrypted in each of the app client's tokens. Only " +
			"Postern " +
			"can decrypt it. The exported gateway returns 503 provider_token_unavailable, even to calls with tokens " +
			"from the exported realm.",
		Remedy: "Change the upstream so that it doesn't need the token. Then set the provider to `service` under " +
			"`upstream` in gateway/gateway.yaml.",
	}
	return []bundle.Fate{
		bundle.LoginProvider, bundle.PublicProvider, bundle.ManagedProvider, signIn, facebook, own, sealed,
		byPost(signIn), byPost(own), byPost(sealed),
	}
}

// byPost is the fate of a provider that sends its answer by POST.
func byPost(fate bundle.Fate) bundle.Fate {
	fate.Reason += "_form_post"
	fate.Status = bundle.Lossy
	fate.Note += " Postern asks the provider to send its response in a POST request (`form_post`). Keycloak doesn't, " +
		"and " +
		"accepts responses only in GET requests. No one can sign in to the realm if the provider requires POST, as " +
		"Apple does " +
		"for names and email addresses."
	fate.Remedy += " If the provider requires form_post, install a Keycloak extension that supports it, such as one " +
		"for Apple."
	return fate
}
