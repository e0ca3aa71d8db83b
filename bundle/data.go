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
	if s.Feature == snapshot.FeatureIntrospection && s.Version.Access.Opaque.HasSecret {
		return Verdict{Reason: "without_secret"}
	}
	if s.Feature == snapshot.FeatureCustomDomains && s.Host != "" {
		return Verdict{Reason: "document"}
	}
	return Verdict{}
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
	snapshot.FeatureAccess: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "Who may call stands in project-config.json."}},
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
	},
	snapshot.FeatureHostedLogin:  {HostedLogin, MachineLogin},
	snapshot.FeatureProvider:     {LoginProvider},
	snapshot.FeatureGroupMapping: {GroupMapping},
	snapshot.FeatureAPIScope: {{Reason: "document", Status: Exact, How: inConfig,
		Note:   "The audience or scope stands in project-config.json; which app clients may ask for it does not.",
		Remedy: "Declare it at the OpenID Connect provider that you move your applications to."}},
	snapshot.FeatureKeyType: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The key type and its scopes stand in project-config.json."}},
	snapshot.FeatureTenant: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "The tenant stands in project-config.json."}},
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
	}},
	snapshot.FeatureUpstreamCert: {{
		Reason: "private_key_left_out",
		Status: Lossy,
		How:    "`project-config.json`, the certificate",
		Note:   "The client certificate stands in project-config.json; its private key is a secret and is left out.",
		Remedy: "Give the gateway you move to the certificate and the private key that you uploaded.",
	}},
	snapshot.FeatureCallSigning: {{
		Reason: "private_key_left_out",
		Status: Lossy,
		How:    "`project-config.json`, the public keys",
		Note: "The public keys of the signatures (RFC 9421) stand in project-config.json; the private ones are " +
			"secrets and are left out.",
		Remedy: "Have the gateway you move to sign with a key of its own, and give upstreams its public half.",
	}},
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
			Note: "The limit stands in the file that source names."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out when the options say so",
			Note:   "The limit was left out together with its key.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	},
	snapshot.FeatureIPRules: {{Reason: "document", Status: Exact, How: inConfig,
		Note: "From where calls may come stands in project-config.json."}},
	snapshot.FeatureKeyIPs: {
		{Reason: "document", Status: Exact, How: "`keys.jsonl`",
			Note: "From where calls with the key may come stands in keys.jsonl."},
		{Reason: ReasonLeftOut, Status: Skipped, How: "left out when the options say so",
			Note:   "The range was left out together with its key.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	},
	snapshot.FeatureOpenAPI: {{Reason: "document", Status: Exact, How: "OpenAPI 3.0.3 document",
		Note: "The API specification is exported as an OpenAPI document."}},
	snapshot.FeatureRequestLimits: {{Reason: "gateway_bounds", Status: Skipped, How: "not part of the data",
		Note:   "The hosted gateway's own bounds on time and size belong to the gateway, not to the project.",
		Remedy: "Set timeouts and size limits on the gateway you move to, or export with format gateway."}},
	snapshot.FeatureLoginSessions:   {Sessions},
	snapshot.FeatureManagedGitHub:   {ManagedGitHub},
	snapshot.FeatureObjectOwnership: {Ownership},
	snapshot.FeatureUsage:           {Usage},
	snapshot.FeatureAudit:           {Audit},
	snapshot.FeatureSecrets:         {Secrets},
	snapshot.FeatureCustomDomains: {{Reason: "dns", Status: Skipped, How: "DNS stays with its owner",
		Note:   "Domain names that point at the hosted proxy are records in your own DNS and are not part of a zip.",
		Remedy: "Point the names at the gateway you move to."},
		{Reason: "document", Status: Exact, How: "`hosts` of each environment in `project-config.json`",
			Note:   "The host name stands with its environment in project-config.json.",
			Remedy: "Point its DNS record at the gateway you move to, with a certificate for the name there."}},
}

// Fates that are the same on every target: data besides a project's configuration that
// no other system can take over.
var (
	// HostedLogin is an app client, with its keys and users.
	HostedLogin = Fate{
		Reason: "issuer_stays",
		Status: Lossy,
		How:    "`auth/issuers.json`: name, issuer and public keys",
		Note: "The app client is an issuer at the hosted service, which goes on signing people in as long as it " +
			"is there. This zip has its name, its issuer and the public keys that verify the tokens it has issued. " +
			"Its settings are not in it: redirect, sign-out and back-channel logout URIs, lifetimes, grant types, " +
			"API scopes that it may ask for, and branding. Nor are its users.",
		Remedy: "Register your applications with an OpenID Connect provider of your own, and have the gateway " +
			"verify that one's tokens, before you move them.",
	}
	// MachineLogin is an app client that gets tokens for itself (client credentials).
	MachineLogin = Fate{
		Reason: "machine_stays",
		Status: Lossy,
		How:    "`auth/issuers.json`: name, issuer and public keys",
		Note: "The app client gets tokens for itself from the hosted service. This zip has its name, its issuer and " +
			"the public keys that verify the tokens it has issued; its settings and its secret are not in it.",
		Remedy: "Give the machine an API key with its own owner before you move it, or register it with an OpenID " +
			"Connect provider of your own and have the gateway verify that one's tokens.",
	}
	// LoginProvider is an identity provider that an app client offers.
	LoginProvider = Fate{
		Reason: "settings_stay",
		Status: Lossy,
		How:    "`auth/providers.json`: type, app ID and issuer",
		Note: "Users sign in with the provider at the hosted service. This zip has its type, the ID of the app that " +
			"is registered with it, and what goes on of its tokens. Its other settings are not in it: the secret of " +
			"the app, label, scopes, audience, the mail domains that it speaks for, and those whose users are sent " +
			"to it.",
		Remedy: "Register the callback URL of the OpenID Connect provider that you move to with the same app, so " +
			"that the provider identifies each user as before, and set scopes, audience and domains there.",
	}
	// GroupMapping is a rule by which claims of a provider put users into a group.
	GroupMapping = Fate{
		Reason: "login_stays",
		Status: Skipped,
		How:    "left out; the ledger names each rule",
		Note: "The rule puts users into a group when they sign in at the hosted service; neither the app client nor " +
			"the group is in this zip.",
		Remedy: "Set up the same rule at the OpenID Connect provider that you move your applications to, such as a " +
			"claim to group mapper in Keycloak. Rules for GitHub need a provider that reads organizations and teams " +
			"itself, such as Dex.",
	}
	// Sessions, ManagedGitHub and Ownership belong to logins and rules.
	Sessions = Fate{Reason: "not_transferable", Status: Skipped, How: "not transferable",
		Note: "Active login sessions end with the hosted service. They are never exported, nor are refresh tokens, " +
			"consents of users, and the sessions that were ended.",
		Remedy: "Users sign in again, and consent again, where you move your applications to."}
	ManagedGitHub = Fate{Reason: "belongs_to_installation", Status: Skipped, How: "not transferable",
		Note: "The shared managed GitHub login belongs to the Postern installation; this project's zip cannot " +
			"carry it.",
		Remedy: "Where sign-in with GitHub is wanted, register a GitHub OAuth app of your own."}
	Ownership = Fate{Reason: "not_recorded", Status: Skipped, How: "nothing recorded",
		Note: "Live ownership of objects is not part of this export; Postern recorded none for this project."}
	// Usage covers the counters and a key's last use.
	Usage = Fate{Reason: "left_out", Status: Skipped, How: "left out",
		Note:   "Usage figures, the last use of each key among them, stay with the hosted service.",
		Remedy: "Measure on the new gateway from the first day, for example with its metrics plugin."}
	// Audit covers who changed what in the hosted service.
	Audit = Fate{Reason: "left_out", Status: Skipped, How: "left out",
		Note:   "The history of who changed what stays with the hosted service.",
		Remedy: "Read it in the dashboard before you close the account, if you have to keep it."}
	// Secrets covers every value that grants access by itself.
	Secrets = Fate{
		Reason: "only_hashes",
		Status: Skipped,
		How:    "left out",
		Note: "No secret of the service leaves it: keys travel as hashes, and workspace keys, claim codes and " +
			"passwords not at all.",
	}
)
