package bundle

import "postern/core/snapshot"

const registerCallback = "Add your new OpenID Connect provider's callback URL to the app that is registered with " +
	"this identity provider, so that users keep their identities."

// Reasons that are the same on every target.
const (
	ReasonWithSecret    = "with_secret"    // the item's secret is in the zip
	ReasonLeftOut       = "left_out"       // the export options leave the item out
	ReasonBuiltIn       = "built_in"       // a key type that every project has
	ReasonDefaultTenant = "default_tenant" // the tenant that every project has
	ReasonDefaults      = "defaults"       // settings that no one has changed
	ReasonGenerated     = "generated"      // a document that the export generates
	ReasonNoUsers       = "no_users"       // a tenant without users
)

func withSecret(remedy string) Fate {
	return Fate{
		Reason: ReasonWithSecret,
		Status: Exact,
		How:    "complete, with its secret in `secrets.json`",
		Note:   "The secret is in secrets.json. The item's `source` is the file that contains all other settings.",
		Remedy: remedy,
	}
}

// ProviderReason returns the reason of the fate of a provider's settings.
func ProviderReason(p *snapshot.Provider) string {
	switch s := p.Settings; {
	case s == nil:
		return PublicProvider.Reason
	case s.Managed:
		return ManagedProvider.Reason
	case s.HasSecret:
		return LoginProvider.Reason
	}
	return PublicProvider.Reason
}

// Fates that are the same on every target: data outside a project's configuration that no other system can take over.
var (
	// HostedLogin is an app client that people sign in to.
	HostedLogin = Fate{
		Reason: "issuer_stays",
		Status: Lossy,
		How:    "`auth/clients.json`: settings; `auth/issuers.json`: issuer and public keys",
		Note: "The app client has its own token issuer on the hosted service. Users can sign in to the app client " +
			"there until it is deleted. This zip contains the app client's settings, the SHA-256 of its secret, its " +
			"issuer URL and the public keys that verify the tokens issued to it. It doesn't contain the private " +
			"keys that sign new tokens.",
		Remedy: "Before you move your applications, register them with your own OpenID Connect provider, and " +
			"configure the gateway to verify that provider's tokens.",
	}
	// MachineLogin is an app client that gets tokens for itself (client credentials).
	MachineLogin = Fate{
		Reason: "machine_stays",
		Title:  "Machine clients",
		Status: Lossy,
		How:    "`auth/clients.json`: settings; `auth/issuers.json`: issuer and public keys",
		Note: "The app client gets tokens for itself from Postern. This zip contains its settings, the SHA-256 of " +
			"its secret, its issuer URL and the public keys that verify the tokens issued to it.",
		Remedy: "Before you move the machine that uses this app client, give it an API key with its own owner, or " +
			"register it with your own OpenID Connect provider and configure the gateway to verify that provider's " +
			"tokens.",
	}
	// LoginProvider is an identity provider that an app client offers, with a secret.
	LoginProvider = Fate{
		Reason: "without_secret",
		Status: Lossy,
		How:    "`auth/providers.json`, without the secret",
		Note: "All provider settings are in providers.json, except the secret for the app that is registered with " +
			"the provider.",
		Remedy: registerCallback,
	}
	// PublicProvider is an identity provider without a secret.
	PublicProvider = Fate{
		Reason: "document",
		Status: Exact,
		How:    "`auth/providers.json`",
		Note:   "All provider settings are in providers.json.",
		Remedy: registerCallback,
	}
	// ManagedProvider is the shared GitHub app of the installation.
	ManagedProvider = Fate{
		Reason: "managed",
		Status: Lossy,
		How:    "`auth/providers.json`, without an app",
		Note: "Users sign in with the Postern installation's GitHub app, which can't be exported. GitHub user IDs " +
			"are the same in every app, so users keep their identities if you use another app.",
		Remedy: "Register your own GitHub OAuth app, and add it to your new OpenID Connect provider.",
	}
	// Users are the fates of the users of a tenant.
	Users = []Fate{
		{
			Reason: "document",
			Status: Exact,
			How:    "`users/users.jsonl`, one line per user; `users/scim/`",
			Note: "Every user is in users.jsonl with their ID, provider identities, profile claims, groups and " +
				"consents. scim/users.json contains them as SCIM resources, without provider identities, consents, " +
				"or the profile claims that SCIM has no attribute for. There are no passwords, because users sign in " +
				"with providers.",
			Remedy: "Run scim/push.sh to create the users in any system that supports SCIM.",
		},
		{
			Reason: ReasonLeftOut,
			Status: Skipped,
			How:    "left out by the export options",
			Note: "This export leaves out consumers, so it doesn't contain the tenant's users, their groups and " +
				"consents, or the sign-up policy.",
			Remedy: "To move the users, export again with consumers.",
		},
		{
			Reason: ReasonNoUsers,
			Title:  "Tenants without users",
			Status: Exact,
			How:    "`users/users.jsonl`, empty",
			Note:   "The tenant has no users, so users.jsonl is empty.",
			Always: true,
		},
	}
	// UserGroup is a group of users and apps.
	UserGroup = Fate{Reason: "document", Status: Exact, How: "`users/groups.json`; `users/scim/groups.json`",
		Note: "groups.json contains the group, its parent groups and the apps in it; users.jsonl lists its users. " +
			"scim/groups.json contains the group and its users as a SCIM resource, but not its apps, because SCIM " +
			"has no resource for them. A SCIM resource has only one name: the display name, or the group's `name` if " +
			"a rule requires the group.",
		Remedy: "Run scim/push.sh to create the group and its members in any system that supports SCIM."}
	// Webhook is a URL that is notified of events. The team configured it, and every project of the team has the item.
	Webhook = Fate{Reason: "stays_with_team", Always: true, Status: Skipped,
		How: "`project-config.json`: host and events",
		Note: "The webhook receives Postern's own events, such as a finished export or a user's sign-in, so it " +
			"remains with the team. This zip doesn't include the webhook's URL, description or signing secret.",
		Remedy: "Use events from your new systems instead: Keycloak has event listeners, and Kong has log plugins."}
	// UnclaimedCaps are those of a project that no one has claimed. The installation sets them, not the team.
	UnclaimedCaps = Fate{Reason: "not_kept", Always: true, Status: Skipped, How: "not carried over",
		Note:   "An unclaimed project's caps and expiration date apply only in Postern.",
		Remedy: "Set your own limits on the new gateway."}
	// Billing covers credits and invoices.
	Billing = Fate{Reason: "left_out", Always: true, Status: Skipped, How: "left out",
		Note: "Billing belongs to the team, not to a project, so exports don't include credits or invoices."}
	// Sessions, ManagedGitHub and the two of ownership belong to logins and rules.
	Sessions = Fate{Reason: "not_transferable", Always: true, Status: Skipped, How: "not transferable",
		Note:   "Login sessions exist only in Postern. Sessions and refresh tokens are never exported.",
		Remedy: "Have users sign in again with your new provider."}
	ManagedGitHub = Fate{Reason: "belongs_to_installation", Always: true, Status: Skipped, How: "not transferable",
		Note:   "The shared GitHub app belongs to the Postern installation, so it can't be exported with the project.",
		Remedy: "If users sign in with GitHub, register your own GitHub OAuth app."}
	OwnershipLeftOut = Fate{
		Reason: ReasonLeftOut,
		Status: Skipped,
		How:    "left out by the export options",
		Note:   "This export leaves out consumers, so it doesn't contain object owners.",
		Remedy: "If you need rules that require an owner, export again with consumers.",
	}
	NoOwnership = Fate{
		Always: true,
		Reason: "none",
		Status: Skipped,
		How:    "nothing recorded",
		Note:   "No object has a recorded owner, so there is nothing to export.",
	}
	// Usage covers the counters, and when a key was last used.
	Usage = Fate{Reason: "left_out", Always: true, Status: Skipped, How: "left out",
		Note: "Usage figures remain in Postern, including when each key was last used and when each user last signed " +
			"in.",
		Remedy: "Measure usage on the new gateway from the first day, for example with its metrics plugin."}
	// Audit covers who changed what in Postern.
	Audit = Fate{Reason: "left_out", Always: true, Status: Skipped, How: "left out",
		Note: "The change history remains in Postern.",
		Remedy: "If you need to keep the history, save it page by page with `postern audit list --json` before you " +
			"close the account."}
	// Secrets covers every value that grants access by itself.
	Secrets = Fate{
		Always: true,
		Reason: "only_hashes",
		Status: Skipped,
		How:    "left out",
		Note: "Postern's own secrets aren't exported. API keys are exported as hashes. Workspace keys, claim codes " +
			"and passwords aren't exported at all.",
	}
	// SomeSecrets replaces Secrets if the export includes secrets.
	SomeSecrets = Fate{
		Always: true,
		Reason: "some_included",
		Status: Lossy,
		How:    "`secrets.json`",
		Note: "The secrets that the team got from other systems are in secrets.json, encrypted if the export has a " +
			"recipient. Postern's own secrets aren't included. API keys and app client secrets are exported as " +
			"hashes. Workspace keys, claim codes, passwords and the private keys that sign tokens aren't exported at " +
			"all.",
		Remedy: "Delete secrets.json once its secrets are in place.",
	}
)
