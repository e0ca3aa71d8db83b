package kong

import (
	"slices"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

type routePolicyDoc struct {
	Environment string `json:"environment"`
	snapshot.RequestsAuth
	Issuers  []issuerDoc       `json:"issuers,omitempty"`
	Endpoint string            `json:"introspection,omitempty"` // the version's ID; "": no introspection
	APIKey   *apiKeyDoc        `json:"api_key,omitempty"`
	IP       *contract.IPRules `json:"ip,omitempty"`

	SendMetadata bool `json:"send_metadata,omitempty"` // of keys

	Rules  string `json:"rules,omitempty"`  // the version's ID; "": none
	Prefix string `json:"prefix,omitempty"` // the prefix of the paths of rules

	// size limit of the bodies that request-transformer changes; 0: it changes none
	BodyLimit int `json:"body_limit,omitempty"`

	Transforms string `json:"transforms,omitempty"` // the environment's id; "": none

	Host string `json:"host,omitempty"` // of calls to the upstream; "": the target's

	Tag string `json:"tag,omitempty"` // of signatures; "": calls aren't signed

	// Upstream maps the headers that the upstream gets to the environment variables with
	// their values.
	Upstream map[string]string `json:"upstream,omitempty"`
}

func (c *configWriter) policies() {
	c.out.Open("{")
	headers := credentialVariables(c.b.Project).headers()
	for _, pl := range layoutOf(c.b).places {
		access := pl.version.Access
		auth, issuers, endpoint := enforced(access), issuersOf(c.b.Project, access), ""
		if introspects(access) {
			endpoint = pl.version.ID
		}
		for _, r := range slices.Concat(pl.routes, pl.grpc) {
			c.out.Next("        ")
			c.out.Value(r.id)
			c.out.Raw(": ")
			doc := routePolicyDoc{
				Environment:  pl.environment.Name,
				RequestsAuth: auth,
				Issuers:      issuers,
				Endpoint:     endpoint,
				APIKey:       apiKeyOf(access),
				IP:           rangesOf(access.IP),
				SendMetadata: access.SendsMetadata(),
				Host:         hostHeaderOf(pl.environment, r),
				Tag:          signingTag(c.b.Project, pl.environment),
				Upstream:     headers[pl.environment],
			}
			if transformsOf(pl) != (transformsDoc{}) {
				doc.Transforms = pl.environment.ID
			}
			if !pl.version.Transforms.RequestBody.None() {
				doc.BodyLimit = policy.MaxChangedBody
			}
			if _, enforced := enforcedRules(pl.version); enforced {
				doc.Rules = pl.version.ID
				if r.strip {
					doc.Prefix = r.path
				}
			}
			c.out.Value(doc)
		}
	}
	c.out.Raw("\n      }")
}
