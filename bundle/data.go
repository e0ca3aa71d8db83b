package bundle

import "postern/core/snapshot"

// Data is the target without a gateway: documents and rows only, for customers who move to their own system.
var Data = Target{
	Name: "data", Title: "Data only", Format: FormatData,
	Table: dataTable, NewKeys: dataNewKeys, Start: dataStart, Judge: judgeData,
}

const dataNewKeys = `This zip doesn't contain a gateway. A new key works once you add it to your new gateway.

1. Add both hashes in each row of keys.jsonl to your gateway: sha256 is the hash of the consumer's existing key, and
   minted_sha256 is the hash of the new one. If your gateway accepts only plaintext keys, add the new ones from
   minted.csv.
2. Send each consumer the line of minted.csv that has their owner name. Use a channel that is safe for passwords.
3. There is no hurry: existing keys keep working while the gateway has sha256. To revoke an existing key, remove
   its sha256 from the gateway and keep minted_sha256.
4. Delete minted.csv once you have sent all keys. You can't see them again: keys.jsonl has only their hashes.
`

const dataStart = `Check that the zip is intact:

    sha256sum -c SHA256SUMS

Then read [SCHEMA.md](SCHEMA.md), which explains every file and field. Start with ` + "`project-config.json`" + `.
This zip doesn't contain a gateway. To get one, export in the gateway format.
`

// judgeData selects the fate of keys that have a new key, and of endpoints with a secret.
func judgeData(b *Build, s Subject) Verdict {
	if s.Feature == snapshot.FeatureKey && b.Options.Keys == KeysMint && Mintable(s.Key) {
		return Verdict{Reason: "minted"}
	}
	if b.HasSecret(s) {
		return Verdict{Reason: ReasonWithSecret}
	}
	if s.Feature == snapshot.FeatureSecrets && b.Options.Secrets {
		return Verdict{Reason: SomeSecrets.Reason}
	}
	if s.Feature == snapshot.FeatureObjectOwnership {
		return Verdict{Reason: b.OwnershipReason()}
	}
	if s.Feature == snapshot.FeatureOpenAPI {
		return Verdict{Reason: OpenAPIReason(s.Version)}
	}
	if s.Feature == snapshot.FeatureRule {
		return Verdict{Reason: ownerReason(s.Rule)}
	}
	if s.Feature == snapshot.FeatureProvider {
		return Verdict{Reason: ProviderReason(s.Provider)}
	}
	if s.Feature == snapshot.FeatureIntrospection && s.Version.Access.Introspection().HasSecret {
		return Verdict{Reason: "without_secret"}
	}
	if s.Feature == snapshot.FeatureCustomDomains && s.Domain != nil {
		if s.Domain.Shared {
			return Verdict{Reason: "shared"}
		}
		return Verdict{Reason: "document"}
	}
	if s.Feature == snapshot.FeatureAccess && s.Version.Access.Allows(snapshot.JWT) && len(b.Project.Clients) > 0 {
		return Verdict{Reason: "with_login"}
	}
	return Verdict{}
}

// ownerReason returns "" for a rule that doesn't involve owners.
func ownerReason(rule *snapshot.Rule) string {
	switch {
	case rule.Remember != "" || rule.Forget != "":
		return "relations"
	case rule.Owner != "":
		return "owner"
	}
	return ""
}

const inConfig = "`project-config.json`"

var dataTable = Table{
	snapshot.FeatureProject: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "All project settings are in project-config.json."}},
	snapshot.FeatureBin: {{Reason: "as_before", Status: Approximate, How: "as it was before the deletion",
		Note: "The project was deleted and is in the trash, so calls to it get 410. The files in this zip describe " +
			"it as it was before the deletion.",
		Remedy: "Set up the project's keys and versions elsewhere only if you want to serve the project again."}},
	snapshot.FeatureVersion: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The version is in project-config.json."}},
	snapshot.FeatureEnvironment: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The environment and its upstream are in project-config.json."}},
	snapshot.FeatureTimeouts: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "The upstream timeouts are in project-config.json."},
		{Reason: ReasonDefaults, Title: "Default timeouts", Status: Exact, How: inConfig, Always: true,
			Note: "The upstream has the default timeouts. They are in project-config.json."},
	},
	snapshot.FeatureRetries: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "The retry settings for the upstream are in project-config.json."},
		{Reason: ReasonDefaults, Title: "Default retries", Status: Exact, How: inConfig, Always: true,
			Note: "The upstream has the default retry settings. They are in project-config.json."},
	},
	snapshot.FeatureTargets: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The targets, their weights and the load-balancing method are in project-config.json."}},
	snapshot.FeatureChecks: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The health checks are in project-config.json."}},
	snapshot.FeatureBreaker: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The circuit breaker's settings are in project-config.json."}},
	snapshot.FeatureUpstreamCA: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The certificate authorities that are trusted for the upstream are in project-config.json."}},
	snapshot.FeatureUpstreamHTTP: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The HTTP version for calls to the upstream is in project-config.json."}},
	snapshot.FeatureServerName: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The name that the upstream's certificate must be valid for is in project-config.json."}},
	snapshot.FeatureHostHeader: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The Host header for calls to the upstream is in project-config.json."}},
	snapshot.FeatureRoute: {{Reason: "document", Status: Exact, How: inConfig, Always: true,
		Note: "The path prefix is in project-config.json."}},
	snapshot.FeatureAccess: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "The access policy is in project-config.json. It contains the methods, credentials and token " +
				"issuers that callers can use."},
		{Reason: "with_login", Status: Lossy, How: inConfig + "; `auth/issuers.json` for app client tokens",
			Note: "The access policy is in project-config.json. Tokens from the project's app clients are also " +
				"accepted. The public keys that verify these tokens are in issuers.json. Only Postern can issue and " +
				"revoke these tokens.",
			Remedy: "Configure your new gateway to accept tokens from the OpenID Connect provider that you move your " +
				"applications to."},
	},
	snapshot.FeatureOwnerFallback: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The fallback owner for calls without a key is in project-config.json."}},
	snapshot.FeatureTokenIssuer: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The accepted token issuer and audience are in project-config.json."}},
	snapshot.FeatureIntrospection: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "The introspection endpoint for opaque tokens is in project-config.json."},
		{Reason: "without_secret", Status: Lossy, How: inConfig + ", without the secret",
			Note: "The introspection endpoint for opaque tokens is in project-config.json. Its client secret isn't " +
				"in this zip.",
			Remedy: "Configure your new gateway with its own client secret for the endpoint."},
		withSecret(""),
	},
	snapshot.FeatureHostedLogin: {HostedLogin, MachineLogin},
	snapshot.FeatureProvider:    {LoginProvider, PublicProvider, ManagedProvider, withSecret(registerCallback)},
	snapshot.FeatureGroupMapping: {{Reason: "document", Status: Exact, How: "`auth/providers.json`",
		Note: "The mapping is in providers.json, next to its provider. The group is in groups.json."}},
	snapshot.FeatureRedirects: {{Reason: "document", Status: Exact, How: "`auth/clients.json`",
		Note: "The URLs that browsers can be redirected to are in clients.json."}},
	snapshot.FeatureBranding: {{Reason: "document", Status: Exact, How: "`auth/clients.json`",
		Note:   "The title, welcome text, color and logo URL are in clients.json. The logo image isn't in this zip.",
		Remedy: "Keep a copy of the logo if its URL will stop working."}},
	snapshot.FeatureUsers:     Users,
	snapshot.FeatureUserGroup: {UserGroup},
	snapshot.FeatureSignupPolicy: {{Reason: "document", Status: Exact, How: "`users/signup.json`",
		Note: "The tenant's sign-up policy is in signup.json."}},
	snapshot.FeatureConsents: {{Reason: "document", Status: Exact, How: "`users/users.jsonl`",
		Note: "Each user's consents to app clients are in users.jsonl."}},
	snapshot.FeatureWebhook:   {Webhook},
	snapshot.FeatureUnclaimed: {UnclaimedCaps},
	snapshot.FeatureAPIScope: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The audience or scope is in project-config.json. clients.json lists the app clients that can request " +
			"it.",
		Remedy: "Add the audience or scope to the OpenID Connect provider that you move your applications to."}},
	snapshot.FeatureCORS: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The origins whose pages can call the API are in project-config.json."}},
	snapshot.FeatureTenantCORS: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The origins whose pages can call the API with the tenant's credentials are in project-config.json."}},
	snapshot.FeatureKeyType: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "The key type and its scopes are in project-config.json."},
		{Reason: ReasonBuiltIn, Title: "Built-in key types", Status: Exact, How: inConfig, Always: true,
			Note: "The key type and its scopes are in project-config.json. Every project has this key type."},
	},
	snapshot.FeatureTenant: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "The tenant is in project-config.json, with its display name and fallback owner. Its users, groups " +
				"and app clients have their own items."},
		{Reason: ReasonDefaultTenant, Title: "Default tenant", Status: Exact, How: inConfig, Always: true,
			Note: "Every project has a default tenant. The tenant is in project-config.json. Its users, groups and " +
				"app clients have their own items."},
	},
	snapshot.FeatureKey: {
		{
			Reason: "metadata_and_hash",
			Status: Exact,
			How:    "`keys.jsonl`: metadata and SHA-256",
			Note: "All data about the key is exported. A gateway that compares SHA-256 hashes can keep accepting " +
				"the key.",
		},
		{Reason: "minted", Status: Exact, How: "`keys.jsonl`: metadata, SHA-256 of the current key and of a new one",
			Note: "All data about the key is exported, including the SHA-256 of a new key. The new key is in " +
				"minted.csv.",
			Remedy: "Add the new key to your gateway and send it to its owner. NOTICE.md explains how."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out by the export options",
			Note:   "This export leaves out keys.",
			Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
	},
	snapshot.FeatureUpstreamHeader: {{
		Reason: "value_left_out",
		Status: Lossy,
		How:    "`project-config.json`, the header's name",
		Note:   "The header's name is in project-config.json. Its value is a secret, so it is left out.",
		Remedy: "Configure your new gateway to set the header, with the value that the upstream expects.",
	}, withSecret("")},
	snapshot.FeatureUpstreamCert: {{
		Reason: "private_key_left_out",
		Status: Lossy,
		How:    "`project-config.json`, the certificate",
		Note:   "The client certificate is in project-config.json. Its private key is a secret, so it is left out.",
		Remedy: "Configure your new gateway with the certificate and its private key.",
	}, withSecret("")},
	snapshot.FeatureCallSigning: {{
		Reason: "private_key_left_out",
		Status: Lossy,
		How:    "`project-config.json`, the public keys",
		Note: "The public keys that verify the signatures (RFC 9421) are in project-config.json. The private keys " +
			"are secrets, so they are left out.",
		Remedy: "Configure your new gateway to sign with its own key, and give the public key to your upstreams.",
	}, withSecret("")},
	snapshot.FeatureKeyGrace: {
		{Reason: "previous_hash", Status: Exact, How: "`keys.jsonl`: previous SHA-256 and its expiration time",
			Note: "The key's previous secret is exported as a hash with its expiration time."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out by the export options",
			Note:   "The previous secret is left out because its key is left out.",
			Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
	},
	snapshot.FeatureProduct: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The project's product is in project-config.json, and the product's keys are among the project's keys."}},
	snapshot.FeatureLimits: {
		{Reason: "document", Status: Exact, How: "`project-config.json`; `keys.jsonl` for the limits of individual " +
			"keys",
			Note: "The limit is exported, but its counters aren't."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out by the export options",
			Note:   "The limit is left out because its key is left out.",
			Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
	},
	snapshot.FeatureIPRules: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The address range is in project-config.json."}},
	snapshot.FeatureTransform: {{Reason: "document", Status: Exact, How: "`transforms.json`",
		Note: "The changes to requests and responses are in transforms.json."}},
	snapshot.FeatureRule: {
		{Reason: "document", Status: Exact, How: "`authz/rules.json`; for OpenFGA, the files next to it",
			Note: "The route's requirements are in rules.json and, for OpenFGA, in model.fga and tuples.json."},
		{Reason: "owner", Title: "Rules that require an owner", Status: Exact,
			How: "`authz/rules.json`; for OpenFGA, the files next to it",
			Note: "The route's rule, which requires ownership of the object, is in rules.json and, for OpenFGA, in " +
				"model.fga. Object owners have their own item, `object_ownership`.",
			Remedy: "Configure your new gateway to look up who owns the object in the path."},
		{Reason: "relations", Title: "Rules that record owners", Status: Exact, How: "`authz/rules.json`",
			Note: "rules.json names the objects whose owners are recorded or removed after a 2xx response. OpenFGA " +
				"doesn't see responses, so it can't record owners itself.",
			Remedy: "Make sure that your new gateway or your API records and removes owners. Otherwise, new objects " +
				"have no owner."},
	},
	snapshot.FeatureRuleDefault: {{Reason: "document", Status: Exact,
		How: "`authz/rules.json`; for OpenFGA, the files next to it",
		Note: "The default for routes without a rule is in rules.json and, for OpenFGA, in model.fga and " +
			"tuples.json."}},
	snapshot.FeatureKeyIPs: {
		{Reason: "document", Status: Exact, How: "`keys.jsonl`",
			Note: "The address range is in keys.jsonl."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out by the export options",
			Note:   "The range is left out because its key is left out.",
			Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
	},
	snapshot.FeatureOpenAPI: {
		{Reason: "document", Status: Exact, How: "OpenAPI document",
			Note: "The imported OpenAPI document is in this zip."},
		{Reason: ReasonGenerated, Title: "Generated OpenAPI documents", Status: Exact, How: "OpenAPI document",
			Always: true,
			Note:   "The version has no OpenAPI document, so the export generated one from the configuration."},
	},
	snapshot.FeatureValidation: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The request validation setting is in project-config.json. The OpenAPI document is in this zip."}},
	snapshot.FeaturePublication: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The setting that controls who can read the OpenAPI document on the hosted gateway is in " +
			"project-config.json."}},
	snapshot.FeatureRequestLimits: {{Reason: "gateway_bounds", Title: "Timeouts and size limits", Status: Skipped,
		How:    "not part of the data",
		Always: true,
		Note:   "The hosted gateway's own timeouts and size limits belong to the gateway, not to the project.",
		Remedy: "Set timeouts and size limits on your new gateway, or export for Kong."}},
	snapshot.FeatureLoginSessions: {Sessions},
	snapshot.FeatureManagedGitHub: {ManagedGitHub},
	snapshot.FeatureObjectOwnership: {
		{Reason: "document", Status: Exact, How: "`authz/relations.jsonl`; for OpenFGA also in `authz/tuples.json`",
			Note: "Object owners are in relations.jsonl."},
		OwnershipLeftOut, NoOwnership,
	},
	snapshot.FeatureUsage:   {Usage},
	snapshot.FeatureBilling: {Billing},
	snapshot.FeatureAudit:   {Audit},
	snapshot.FeatureSecrets: {Secrets, SomeSecrets},
	snapshot.FeatureCustomDomains: {{Reason: "dns", Status: Skipped, How: "DNS records aren't exported", Always: true,
		Note: "Records that point domains to the hosted gateway are in your own DNS, so they aren't part of an " +
			"export.",
		Remedy: "Point the domains to your new gateway."},
		{Reason: "document", Status: Exact, How: "`domains` of each environment in `project-config.json`",
			Note: "The custom domain is in project-config.json, with its environment, path prefix and methods.",
			Remedy: "Point the domain's DNS record to your new gateway, and configure a certificate for the domain " +
				"there."},
		{Reason: "shared", Status: Exact, How: "`domains` of each environment in `project-config.json`",
			Note: "The custom domain is in project-config.json, with its environment, path prefix and methods. Other " +
				"projects' domains with the same host name aren't in this zip.",
			Remedy: "Also export the other projects. Then point the DNS record to a gateway that serves all of them, " +
				"and configure a certificate for the host name there."}},
}
