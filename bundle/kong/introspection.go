package kong

import (
	"slices"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// endpointDoc is the introspection endpoint of a version. Its secret is in an environment
// variable: the zip has none.
type endpointDoc struct {
	Endpoint string                       `json:"endpoint"`
	Method   snapshot.IntrospectionMethod `json:"method"`
	ClientID string                       `json:"client_id,omitempty"`
	Secret   string                       `json:"secret,omitempty"` // variable; "": the endpoint asks for none
	Issuer   string                       `json:"issuer,omitempty"`
	Audience string                       `json:"audience,omitempty"`
	Tenant   string                       `json:"tenant,omitempty"` // id; "": the project's own is not served
	Withheld *withheldDoc                 `json:"withheld,omitempty"`
}

// withheldDoc has the forms of tokens that the endpoint is not shown: those of app clients,
// of issuers in allowed_pairs, and of providers.
type withheldDoc struct {
	Issuers      []string `json:"issuers,omitempty"`
	IssuersBelow []string `json:"issuers_below,omitempty"`
	Tokens       []string `json:"tokens,omitempty"`
	Opaque       bool     `json:"opaque,omitempty"` // all opaque ones
}

// introspects reports whether the plugin asks the version's endpoint about tokens.
func introspects(access snapshot.Access) bool {
	return access.Allows(snapshot.Opaque) && access.Opaque.Endpoint != ""
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
	from := v.Access.Opaque
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

// withheldOf returns the forms of tokens that the version's endpoint is not shown, nil if
// there are none.
func withheldOf(p *snapshot.Project, v *snapshot.Version) *withheldDoc {
	asked := policy.NewIntrospectors(p, v.ID, &v.Access)
	out := withheldDoc{Issuers: asked.KeyIssuers()}
	for i := range asked.Providers {
		forms := asked.Providers[i].Forms()
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

// judgeIntrospection returns where the endpoint of a version is in gateway.yaml, and
// whether a container can ask it.
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
		how   = "plugin postern-auth, `introspection`"
		alike = "The endpoint is asked about tokens on every call, with the same question, within the same bounds, " +
			"and its answers are taken alike: 200 calls of each of Kong's workers wait for it at a time."
		reach = "Let the gateway reach the endpoint. For one with a certificate of a private authority, set " +
			"KONG_LUA_SSL_TRUSTED_CERTIFICATE as gateway/README.md says."
	)
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: how, Note: alike, Remedy: reach},
		{
			Reason: "secret_from_environment",
			Status: bundle.Exact,
			How:    how + ", with the client secret from a variable in `.env`",
			Note: alike + " The client secret is not in this zip: without it start.sh does not start the gateway, " +
				"and calls with tokens are answered 503 provider_unavailable.",
			Remedy: "Write the client secret, or that of a client of the gateway's own, into gateway/.env. " + reach,
		},
		{
			Reason: "loopback",
			Status: bundle.Approximate,
			How:    how + "; its loopback address is the container's own",
			Note: "The endpoint has a loopback address, and inside a container that is the container itself: calls " +
				"with tokens are answered 503 or 502 until the address is changed.",
			Remedy: "Write host.docker.internal, or the machine's own address, into the endpoint's address in " +
				"gateway/gateway.yaml, and its secret, if it has one, into gateway/.env.",
		},
		{
			Reason: "https_address",
			Status: bundle.Lossy,
			How:    how + "; its certificate is never accepted",
			Note: "The endpoint is asked over https by its IP address. Kong compares certificates with host names " +
				"only, so that every call with a token is answered 503, whatever addresses the certificate names.",
			Remedy: "Write a host name that the certificate names into the endpoint's address in " +
				"gateway/gateway.yaml, and its secret, if it has one, into gateway/.env.",
		},
		{Reason: "unused", Status: bundle.Exact, How: "not needed",
			Note: "The version does not take opaque tokens, so that its endpoint is never asked."},
	}
}
