package bundle

import "postern/core/snapshot"

// Data is the target without a gateway: all facts as documents and rows, for customers
// who move to a system of their own.
var Data = Target{
	Name: "data", Title: "Data only", Format: FormatData,
	Table: dataTable, NewKeys: dataNewKeys, Judge: judgeData,
}

const dataNewKeys = `There is no gateway in this zip. A new key works once the gateway that you move to knows it.

1. Teach that gateway both sums of each row of keys.jsonl: sha256 is that of the key its consumer holds today, and
   minted_sha256 that of the new one. A gateway that takes keys only in plaintext takes the new ones from minted.csv.
2. Send every consumer the line of minted.csv with their owner name, over a channel you would send a password over.
3. Where the gateway knows sha256, the keys of today go on working, so nobody has to hurry. To end one, take its sum off
   the gateway and leave minted_sha256.
4. Delete minted.csv when all are sent. The keys cannot be shown again: keys.jsonl holds their sums only.
`

// judgeData selects the fate of keys with a new key and of endpoints with a secret.
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
	if s.Feature == snapshot.FeatureRule {
		return Verdict{Reason: ownerReason(s.Rule)}
	}
	if s.Feature == snapshot.FeatureProvider {
		return Verdict{Reason: ProviderReason(s.Provider)}
	}
	if s.Feature == snapshot.FeatureIntrospection && s.Version.Access.Opaque.HasSecret {
		return Verdict{Reason: "without_secret"}
	}
	if s.Feature == snapshot.FeatureCustomDomains && s.Host != "" {
		return Verdict{Reason: "document"}
	}
	if s.Feature == snapshot.FeatureAccess && s.Version.Access.Allows(snapshot.JWT) && len(b.Project.Clients) > 0 {
		return Verdict{Reason: "with_login"}
	}
	return Verdict{}
}

// ownerReason returns "" for a rule that has nothing to do with owners.
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
		Note: "All settings of the project stand in project-config.json."}},
	snapshot.FeatureBin: {{Reason: "as_before", Status: Approximate, How: "as before the deletion",
		Note: "The project was deleted and is in the bin, where Postern answers its calls with 410. The documents " +
			"have it as it was before.",
		Remedy: "Set up its keys and versions elsewhere only if its calls are to be answered again."}},
	snapshot.FeatureVersion: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The version stands in project-config.json."}},
	snapshot.FeatureEnvironment: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The environment and its upstream stand in project-config.json."}},
	snapshot.FeatureRoute: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The path prefix stands in project-config.json."}},
	snapshot.FeatureAccess: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "Who may call stands in project-config.json: with which methods and credentials, and from which " +
				"issuers."},
		{Reason: "with_login", Status: Lossy, How: inConfig + "; `auth/issuers.json` for tokens of app clients",
			Note: "Who may call stands in project-config.json. Tokens of the project's app clients are accepted too: " +
				"the public keys that verify those that were issued are in issuers.json, and what issues new ones " +
				"and ends them before their time stays with the hosted service.",
			Remedy: "Have the gateway you move to accept the tokens of the OpenID Connect provider that you move " +
				"your applications to."},
	},
	snapshot.FeatureOwnerFallback: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The owner that calls without a key count against stands in project-config.json."}},
	snapshot.FeatureTokenIssuer: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The issuer and the audience of the tokens that are taken stand in project-config.json."}},
	snapshot.FeatureIntrospection: {
		{Reason: "document", Status: Exact, How: inConfig,
			Note: "The endpoint that is asked about opaque tokens stands in project-config.json."},
		{Reason: "without_secret", Status: Lossy, How: inConfig + ", without the secret",
			Note: "The endpoint that is asked about opaque tokens stands in project-config.json, and the secret " +
				"that it is asked with does not.",
			Remedy: "Give whatever asks the endpoint from now on a secret of its own."},
		withSecret(""),
	},
	snapshot.FeatureHostedLogin: {HostedLogin, MachineLogin},
	snapshot.FeatureProvider:    {LoginProvider, PublicProvider, ManagedProvider, withSecret(registerCallback)},
	snapshot.FeatureGroupMapping: {{Reason: "document", Status: Exact, How: "`auth/providers.json`",
		Note: "The rule stands with its provider in providers.json, and its group in groups.json."}},
	snapshot.FeatureRedirects: {{Reason: "document", Status: Exact, How: "`auth/clients.json`",
		Note: "The addresses that browsers may be sent back to stand in clients.json."}},
	snapshot.FeatureBranding: {{Reason: "document", Status: Exact, How: "`auth/clients.json`",
		Note:   "Title, welcome text, color and the address of the logo stand in clients.json; the image does not.",
		Remedy: "Keep a copy of the logo if its address is going to end."}},
	snapshot.FeatureUsers:     Users,
	snapshot.FeatureUserGroup: {UserGroup},
	snapshot.FeatureSignupPolicy: {{Reason: "document", Status: Exact, How: "`users/signup.json`",
		Note: "Who may join the tenant stands in signup.json."}},
	snapshot.FeatureConsents: {{Reason: "document", Status: Exact, How: "`users/users.jsonl`",
		Note: "What users agreed to share with app clients stands with each user in users.jsonl."}},
	snapshot.FeatureWebhook:   {Webhook},
	snapshot.FeatureUnclaimed: {UnclaimedCaps},
	snapshot.FeatureAPIScope: {{Reason: "document", Status: Exact, How: inConfig,
		Note:   "The audience or scope stands in project-config.json; which app clients may ask for it does not.",
		Remedy: "Declare it at the OpenID Connect provider that you move your applications to."}},
	snapshot.FeatureCORS: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "Which pages of other origins may call stands in project-config.json."}},
	snapshot.FeatureTenantCORS: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "Which pages of other origins may call with the tenant's credentials stands in project-config.json."}},
	snapshot.FeatureKeyType: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The key type and its scopes stand in project-config.json."}},
	snapshot.FeatureTenant: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The tenant stands in project-config.json, with its display name and the owner that calls without a " +
			"key count for. Its users, groups and app clients have items of their own."}},
	snapshot.FeatureKey: {
		{
			Reason: "metadata_and_hash",
			Status: Exact,
			How:    "`keys.jsonl`: metadata and SHA-256",
			Note: "Everything known of the key is exported; a gateway that compares SHA-256 sums can go on " +
				"accepting it.",
		},
		{Reason: "minted", Status: Exact, How: "`keys.jsonl`: metadata, SHA-256 of the present and of a new key",
			Note:   "Everything known of the key is exported, with the SHA-256 of a new key that stands in minted.csv.",
			Remedy: "Teach your gateway the new key and send it to its owner; NOTICE.md says how."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out when the options say so",
			Note:   "The key was left out because the export was asked to leave keys out.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	},
	snapshot.FeatureUpstreamHeader: {{
		Reason: "value_left_out",
		Status: Lossy,
		How:    "`project-config.json`, its name",
		Note:   "The name of the header stands in project-config.json; its value is a secret and is left out.",
		Remedy: "Have the gateway you move to set the header, with the value that the upstream compares it with.",
	}, withSecret("")},
	snapshot.FeatureUpstreamCert: {{
		Reason: "private_key_left_out",
		Status: Lossy,
		How:    "`project-config.json`, the certificate",
		Note:   "The client certificate stands in project-config.json; its private key is a secret and is left out.",
		Remedy: "Give the gateway you move to the certificate and the private key that you uploaded.",
	}, withSecret("")},
	snapshot.FeatureCallSigning: {{
		Reason: "private_key_left_out",
		Status: Lossy,
		How:    "`project-config.json`, the public keys",
		Note: "The public keys of the signatures (RFC 9421) stand in project-config.json; the private ones are " +
			"secrets and are left out.",
		Remedy: "Have the gateway you move to sign with a key of its own, and give upstreams its public half.",
	}, withSecret("")},
	snapshot.FeatureKeyGrace: {
		{Reason: "previous_hash", Status: Exact, How: "`keys.jsonl`: previous SHA-256 and its end",
			Note: "The secret before the last rotation is exported as a hash with the moment it ends."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out when the options say so",
			Note:   "The previous secret was left out together with its key.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	},
	snapshot.FeatureProduct: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The product that the project is in stands in project-config.json, and its keys among the project's."}},
	snapshot.FeatureLimits: {
		{Reason: "document", Status: Exact, How: "`project-config.json`; `keys.jsonl` for those of single keys",
			Note: "The limit stands in the file that source names; what is counted against it so far does not."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out when the options say so",
			Note:   "The limit was left out together with its key.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	},
	snapshot.FeatureIPRules: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "From where calls may come stands in project-config.json."}},
	snapshot.FeatureTransform: {{Reason: "document", Status: Exact, How: "`transforms.json`",
		Note: "The changes to requests and responses stand in transforms.json."}},
	snapshot.FeatureRule: {
		{Reason: "document", Status: Exact, How: "`authz/rules.json`; for OpenFGA the files beside it",
			Note: "What the route requires stands in rules.json, and for OpenFGA in model.fga and tuples.json."},
		{Reason: "owner", Status: Exact, How: "`authz/rules.json`; for OpenFGA the files beside it",
			Note: "That the route requires the owner of its object stands in rules.json, and for OpenFGA in " +
				"model.fga. Who owns which object has an item of its own, object_ownership.",
			Remedy: "Have the gateway you move to look for the owner of the object that the path names."},
		{Reason: "relations", Status: Exact, How: "`authz/rules.json`",
			Note: "Which object an answer with 2xx gives an owner, or takes its owners from, stands in rules.json. " +
				"OpenFGA reads no answers.",
			Remedy: "Have the gateway you move to, or your API, record and remove owners: objects created from then " +
				"on have none otherwise."},
	},
	snapshot.FeatureRuleDefault: {{Reason: "document", Status: Exact,
		How:  "`authz/rules.json`; for OpenFGA the files beside it",
		Note: "What routes without a rule get stands in rules.json, and for OpenFGA in model.fga and tuples.json."}},
	snapshot.FeatureKeyIPs: {
		{Reason: "document", Status: Exact, How: "`keys.jsonl`",
			Note: "From where calls with the key may come stands in keys.jsonl."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out when the options say so",
			Note:   "The range was left out together with its key.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	},
	snapshot.FeatureOpenAPI: {{Reason: "document", Status: Exact, How: "OpenAPI document",
		Note: "The API specification is exported as an OpenAPI document: the imported one, or one generated from the " +
			"configuration."}},
	snapshot.FeatureValidation: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "Whether requests are validated stands in project-config.json, and what they are validated against in " +
			"the OpenAPI document."}},
	snapshot.FeaturePublication: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "Who can read the OpenAPI document at the gateway stands in project-config.json."}},
	snapshot.FeatureRequestLimits: {{Reason: "gateway_bounds", Status: Skipped, How: "not part of the data",
		Note:   "The hosted gateway's own bounds on time and size belong to the gateway, not to the project.",
		Remedy: "Set timeouts and size limits on the gateway you move to, or export with format gateway."}},
	snapshot.FeatureLoginSessions: {Sessions},
	snapshot.FeatureManagedGitHub: {ManagedGitHub},
	snapshot.FeatureObjectOwnership: {
		{Reason: "document", Status: Exact, How: "`authz/relations.jsonl`; for OpenFGA also in `authz/tuples.json`",
			Note: "Who owns which object stands in relations.jsonl."},
		OwnershipLeftOut, NoOwnership,
	},
	snapshot.FeatureUsage:   {Usage},
	snapshot.FeatureBilling: {Billing},
	snapshot.FeatureAudit:   {Audit},
	snapshot.FeatureSecrets: {Secrets, SomeSecrets},
	snapshot.FeatureCustomDomains: {{Reason: "dns", Status: Skipped, How: "DNS stays with its owner",
		Note:   "Domain names that point at the hosted proxy are records in your own DNS and are not part of a zip.",
		Remedy: "Point the names at the gateway you move to."},
		{Reason: "document", Status: Exact, How: "`hosts` of each environment in `project-config.json`",
			Note:   "The host name stands with its environment in project-config.json.",
			Remedy: "Point its DNS record at the gateway you move to, with a certificate for the name there."}},
}
