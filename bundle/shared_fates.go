package bundle

import "postern/core/snapshot"

const registerCallback = "Register the callback URL of the OpenID Connect provider that you move to with the same " +
	"app, so that the provider identifies each user as before."

// ReasonWithSecret is the reason of the fate of a subject whose secret is in the zip.
const ReasonWithSecret = "with_secret"

func withSecret(remedy string) Fate {
	return Fate{
		Reason: ReasonWithSecret,
		Status: Exact,
		How:    "the same, and its secret in `secrets.json`",
		Note:   "All of it is in this zip: its settings where source says, and its secret in secrets.json.",
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

// Fates that are the same on every target: data besides a project's configuration that
// no other system can take over.
var (
	// HostedLogin is an app client of people.
	HostedLogin = Fate{
		Reason: "issuer_stays",
		Status: Lossy,
		How:    "`auth/clients.json`: settings; `auth/issuers.json`: issuer and public keys",
		Note: "The app client is an issuer at the hosted service, which goes on signing people in as long as it " +
			"is there. This zip has its settings, the SHA-256 of its secret, its issuer and the public keys that " +
			"verify the tokens it has issued; what signs new ones is not in it.",
		Remedy: "Register your applications with an OpenID Connect provider of your own, and have the gateway " +
			"verify that one's tokens, before you move them.",
	}
	// MachineLogin is an app client that gets tokens for itself (client credentials).
	MachineLogin = Fate{
		Reason: "machine_stays",
		Status: Lossy,
		How:    "`auth/clients.json`: settings; `auth/issuers.json`: issuer and public keys",
		Note: "The app client gets tokens for itself from the hosted service. This zip has its settings, the SHA-256 " +
			"of its secret, its issuer and the public keys that verify the tokens it has issued.",
		Remedy: "Give the machine an API key with its own owner before you move it, or register it with an OpenID " +
			"Connect provider of your own and have the gateway verify that one's tokens.",
	}
	// LoginProvider is an identity provider that an app client offers, with a secret.
	LoginProvider = Fate{
		Reason: "without_secret",
		Status: Lossy,
		How:    "`auth/providers.json`, without the secret",
		Note: "All settings of the provider stand in providers.json, except the secret of the app registered with " +
			"it.",
		Remedy: registerCallback,
	}
	// PublicProvider is an identity provider without a secret.
	PublicProvider = Fate{
		Reason: "document",
		Status: Exact,
		How:    "`auth/providers.json`",
		Note:   "All settings of the provider stand in providers.json.",
		Remedy: registerCallback,
	}
	// ManagedProvider is the shared GitHub app of the installation.
	ManagedProvider = Fate{
		Reason: "managed",
		Status: Lossy,
		How:    "`auth/providers.json`, without an app",
		Note: "Users sign in with the GitHub app of the Postern installation, which stays there. GitHub's ids of " +
			"users are the same for every app, so that their identities go on meaning the same users.",
		Remedy: "Register a GitHub OAuth app of your own with the OpenID Connect provider that you move to.",
	}
	// Users are the fates of the users of a tenant.
	Users = []Fate{
		{
			Reason: "document",
			Status: Exact,
			How:    "`users/users.jsonl`, one line a user; `users/scim/`",
			Note: "Every user stands in users.jsonl with their id, identities at providers, profile claims, groups " +
				"and consents, and as a SCIM resource in scim/users.json, without identities, consents and those " +
				"profile claims that SCIM has no attribute for. There are no passwords: users sign in with providers.",
			Remedy: "scim/push.sh creates the users at any SCIM receiver.",
		},
		{
			Reason: ReasonLeftOut,
			Status: Skipped,
			How:    "left out when the options say so",
			Note: "The users of the tenant, their groups and consents, and the rules of who may join were left out " +
				"because the export was asked to leave consumers out.",
			Remedy: "Export again with consumers if users are to move.",
		},
	}
	// UserGroup is a group of users.
	UserGroup = Fate{Reason: "document", Status: Exact, How: "`users/groups.json`; `users/scim/groups.json`",
		Note: "The group stands in groups.json with the groups that it is in, and its members in users.jsonl. " +
			"scim/groups.json has both in a SCIM resource, whose only name is the display name, or the name where " +
			"a rule requires the group.",
		Remedy: "scim/push.sh creates the group at any SCIM receiver, with its members."}
	// Webhook is an address that is told of events.
	Webhook = Fate{Reason: "stays_with_team", Status: Skipped, How: "`project-config.json`: host and events",
		Note: "Events of the hosted service, such as an export that is ready or a user who signed in, are sent by " +
			"it; the webhook stays with the team. Its address, description and signing secret are not in this zip.",
		Remedy: "Have what you move to report what you need from it: Keycloak has event listeners, Kong has log " +
			"plugins."}
	// UnclaimedCaps are those of a project that nobody has claimed.
	UnclaimedCaps = Fate{Reason: "not_kept", Status: Skipped, How: "not carried over",
		Note: "What the hosted service caps of a project that nobody has claimed, and the day it ends, is not kept " +
			"elsewhere.",
		Remedy: "Set limits of your own where you move to."}
	// Billing covers credits and invoices.
	Billing = Fate{Reason: "left_out", Status: Skipped, How: "left out",
		Note: "Billing belongs to the team and not to a project: credits and invoices are not part of an export."}
	// Sessions, ManagedGitHub and those of ownership belong to logins and rules.
	Sessions = Fate{Reason: "not_transferable", Status: Skipped, How: "not transferable",
		Note:   "Active login sessions end with the hosted service. They are never exported, nor are refresh tokens.",
		Remedy: "Users sign in again where you move your applications to."}
	ManagedGitHub = Fate{Reason: "belongs_to_installation", Status: Skipped, How: "not transferable",
		Note: "The shared managed GitHub login belongs to the Postern installation; this project's zip cannot " +
			"carry it.",
		Remedy: "Where sign-in with GitHub is wanted, register a GitHub OAuth app of your own."}
	OwnershipLeftOut = Fate{
		Reason: ReasonLeftOut,
		Status: Skipped,
		How:    "left out when the options say so",
		Note:   "Who owns which object was left out because the export was asked to leave consumers out.",
		Remedy: "Export again with consumers if rules with owner are to go on.",
	}
	NoOwnership = Fate{
		Reason: "none",
		Status: Skipped,
		How:    "nothing recorded",
		Note:   "Nobody is recorded as the owner of an object. There is nothing to export.",
	}
	// Usage covers the counters and a key's last use.
	Usage = Fate{Reason: "left_out", Status: Skipped, How: "left out",
		Note: "Usage figures, the last use of each key and the last sign-in of each user among them, stay with the " +
			"hosted service.",
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
	// SomeSecrets is Secrets where the export was asked for secrets.
	SomeSecrets = Fate{
		Reason: "some_included",
		Status: Lossy,
		How:    "`secrets.json`",
		Note: "The secrets that others gave to the team are in secrets.json, encrypted if a recipient was given. " +
			"Those of the service are not: keys and secrets of app clients travel as hashes, and workspace keys, " +
			"claim codes, passwords and the keys that sign tokens not at all.",
		Remedy: "Delete the file when its secrets are where they are needed.",
	}
)
