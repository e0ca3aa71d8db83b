package kong

import (
	"slices"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// endpointDoc is the introspection endpoint of a version. Its secret is in an environment variable, because the zip
// doesn't have it.
type endpointDoc struct {
	Endpoint string                       `json:"endpoint"`
	Method   snapshot.IntrospectionMethod `json:"method"`
	ClientID string                       `json:"client_id,omitempty"`
	Secret   string                       `json:"secret,omitempty"` // variable; "": the endpoint doesn't require one
	Issuer   string                       `json:"issuer,omitempty"`
	Audience string                       `json:"audience,omitempty"`
	Tenant   string                       `json:"tenant,omitempty"` // ID; "": the project's own isn't served
	Withheld *withheldDoc                 `json:"withheld,omitempty"`
}

// withheldDoc has the forms of tokens that aren't sent to the endpoint: those of app clients, of issuers in
// allowed_pairs, and of providers.
type withheldDoc struct {
	Issuers      []string `json:"issuers,omitempty"`
	IssuersBelow []string `json:"issuers_below,omitempty"`
	Tokens       []string `json:"tokens,omitempty"`
	Opaque       bool     `json:"opaque,omitempty"` // all opaque ones
}

// introspects reports whether the plugin asks the version's endpoint about tokens.
func introspects(access snapshot.Access) bool {
	return access.Allows(snapshot.Opaque) && access.Introspection().Endpoint != ""
}

// endpoints writes the introspection endpoints by the ids of their versions, if there are
// any.
func (c *configWriter) endpoints() {
	if !slices.ContainsFunc(c.b.Project.Versions, func(v snapshot.Version) bool { return introspects(v.Access) }) {
		return
	}
	variables := credentialVariables(c.b.Project)
	c.out.Raw(",\n      \"introspection\": ")
	c.out.Open("{")
	for i := range c.b.Project.Versions {
		v := &c.b.Project.Versions[i]
		if !introspects(v.Access) {
			continue
		}
		c.out.Next("        ")
		c.out.Value(v.ID)
		c.out.Raw(": ")
		c.out.Value(endpointDocOf(c.b.Project, v, variables))
	}
	c.out.Raw("\n      }")
}

func endpointDocOf(p *snapshot.Project, v *snapshot.Version, variables variables) endpointDoc {
	from := v.Access.Introspection()
	return endpointDoc{
		Endpoint: from.Endpoint,
		Method:   from.Method,
		ClientID: from.ClientID,
		Secret:   variables.introspectionSecretOf(v),
		Issuer:   from.Issuer,
		Audience: from.Audience,
		Tenant:   policy.NewRealm(p).TenantNamed(""),
		Withheld: withheldOf(p, v),
	}
}

// withheldOf returns the forms of tokens that aren't sent to the version's endpoint, nil if there are none.
func withheldOf(p *snapshot.Project, v *snapshot.Version) *withheldDoc {
	introspectors := policy.NewIntrospectors(p, v.ID, &v.Access)
	out := withheldDoc{Issuers: introspectors.KeyIssuers()}
	for i := range introspectors.Providers {
		forms := introspectors.Providers[i].Forms()
		out.Issuers = append(out.Issuers, forms.Issuers...)
		out.IssuersBelow = append(out.IssuersBelow, forms.IssuersBelow...)
		out.Tokens = append(out.Tokens, forms.Prefixes...)
		out.Opaque = out.Opaque || forms.AnyOpaque
	}
	for _, list := range []*[]string{&out.Issuers, &out.IssuersBelow, &out.Tokens} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if len(out.Issuers)+len(out.IssuersBelow)+len(out.Tokens) == 0 && !out.Opaque {
		return nil
	}
	return &out
}

// judgeIntrospection returns the place of a version's endpoint in gateway.yaml, and whether a container can call it.
func judgeIntrospection(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	access := s.Version.Access
	if !introspects(access) {
		return bundle.Verdict{Reason: "unused"}
	}
	v := bundle.Verdict{
		Reason: misplaced(access.Opaque.Endpoint),
		Target: bundle.At(gatewayFile, "/plugins/0/config/introspection/%s", s.Version.ID),
		Probes: probesOf(b, s),
	}
	if v.Reason == "" && access.Opaque.HasSecret {
		v.Reason = "secret_from_environment"
	}
	return v
}

func introspectionFates() []bundle.Fate {
	const (
		how   = "the `postern-auth` plugin, `introspection`"
		alike = "For each call with a token, the gateway sends the endpoint the same request with the same " +
			"limits, and treats the responses the same way. In each of Kong's workers, up to 200 calls can wait for " +
			"the endpoint at a time."
		reach = "Make sure that the gateway can connect to the endpoint. If its certificate is from a private " +
			"authority, set KONG_LUA_SSL_TRUSTED_CERTIFICATE as described in gateway/README.md."
	)
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: how, Note: alike, Remedy: reach},
		{
			Reason: "secret_from_environment",
			Status: bundle.Exact,
			How:    how + ", with the client secret from a variable in `.env`",
			Note: alike + " The client secret isn't in this zip. Without it, start.sh doesn't start the gateway and " +
				"calls with tokens get 503 provider_unavailable.",
			Remedy: "Put the client secret into gateway/.env, or register a new client for the gateway and use its " +
				"secret. " + reach,
		},
		{
			Reason: "loopback",
			Status: bundle.Approximate,
			How:    how + "; its loopback address refers to the container",
			Note: "The endpoint has a loopback address. Inside a container, it refers to the container itself. Calls " +
				"with tokens get 503 or 502 until you change the address.",
			Remedy: "In gateway/gateway.yaml, change the endpoint's host to host.docker.internal or the machine's " +
				"own address. If the endpoint has a secret, put the secret into gateway/.env.",
		},
		{
			Reason: "https_address",
			Status: bundle.Lossy,
			How:    how + "; its certificate is never accepted",
			Note: "The endpoint is called over https by its IP address. Kong compares certificates only with host " +
				"names, so every call with a token gets 503, even if the certificate is valid for the address.",
			Remedy: "In gateway/gateway.yaml, change the endpoint's host to a host name that the certificate is " +
				"valid for. If the endpoint has a secret, put the secret into gateway/.env.",
		},
		{Reason: "unused", Status: bundle.Exact, How: "not needed",
			Note: "The version doesn't accept opaque tokens, so the gateway never calls the endpoint."},
	}
}
