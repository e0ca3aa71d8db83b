package kong

import (
	"slices"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// clientDoc is an app client of the project, whose tokens the plugin accepts until they
// end.
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

// clients writes what the plugin needs to accept the tokens of app clients.
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
	c.refused()
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
		doc.Upstream[provider.ID] = provider.TokenUpstream
	}
	return doc
}

// refused writes the users and sessions whose tokens are refused.
func (c *configWriter) refused() {
	p := c.b.Project
	if len(p.Barred) == 0 && len(p.EndedSessions) == 0 {
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
	c.out.Raw("}}")
}

// acceptsOwnTokens reports whether a version accepts tokens of app clients.
func acceptsOwnTokens(p *snapshot.Project) bool {
	return len(p.Clients) > 0 && slices.ContainsFunc(p.Versions, func(v snapshot.Version) bool {
		return v.Access.Allows(snapshot.JWT)
	})
}

// judgeLogin returns where an app client or provider is, and what becomes of its tokens.
func judgeLogin(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	if !acceptsOwnTokens(b.Project) && s.Provider == nil {
		return bundle.Verdict{}
	}
	at := bundle.At(gatewayFile, "/plugins/0/config/clients/%s", bundle.Escape(s.Client.Issuer))
	switch {
	case s.Provider == nil && s.Client.Machine:
		return bundle.Verdict{Reason: "machine_until_they_end", Target: at}
	case s.Provider == nil:
		return bundle.Verdict{Reason: "until_they_end", Target: at}
	case s.Provider.TokenClient == snapshot.ProviderToken:
		return bundle.Verdict{Reason: "own_tokens"}
	case s.Provider.TokenUpstream == snapshot.ProviderAccessToken, s.Provider.TokenUpstream == snapshot.ProviderIDToken:
		return bundle.Verdict{Reason: "sealed_tokens"}
	}
	return bundle.Verdict{Reason: bundle.ProviderReason(s.Provider)}
}

func loginFates() []bundle.Fate {
	const (
		signIn   = "This gateway signs no user in; the settings of the app client stand in clients.json."
		register = "Register your applications with an OpenID Connect provider of your own, and add its issuer and " +
			"audience to `issuers` of the routes, before you move them."
	)
	untilTheyEnd := bundle.Fate{
		Reason: "until_they_end",
		Status: bundle.Lossy,
		How:    "plugin postern-auth, its public keys in `clients`",
		Note: "Tokens that the app client has issued go on working until they end, by the state of users and " +
			"sessions at the export; those that the hosted service issues later are accepted too, while it signs " +
			"with the same keys. " + signIn,
		Remedy: register,
	}
	machine := untilTheyEnd
	machine.Reason = "machine_until_they_end"
	machine.Remedy = "Give the machine an API key with its own owner before you move it, or register it with an " +
		"OpenID Connect provider of your own, and add its issuer and audience to `issuers` of the routes."
	return []bundle.Fate{bundle.HostedLogin, bundle.MachineLogin, untilTheyEnd, machine}
}

func providerFates() []bundle.Fate {
	own, sealed := bundle.LoginProvider, bundle.LoginProvider
	own.Reason = "own_tokens"
	own.Note = "Browsers get the provider's own tokens, which the hosted gateway has the provider check on every " +
		"call. The exported gateway answers them 401, unless they are JSON Web Tokens of an issuer in " +
		"`issuers`. " + own.Note
	sealed.Reason = "sealed_tokens"
	sealed.Note = "Upstreams get the provider's token, which is sealed in each token of the app client and can be " +
		"opened by the hosted service alone: the exported gateway answers 503 provider_token_unavailable. " +
		sealed.Note
	return []bundle.Fate{bundle.LoginProvider, bundle.PublicProvider, bundle.ManagedProvider, own, sealed}
}
