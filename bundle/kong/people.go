package kong

import (
	"fmt"
	"strings"

	"postern/bundle"
	"postern/core/snapshot"
)

// judgePeople returns where the exported realm has what belongs to logins.
func judgePeople(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	switch s.Feature {
	case snapshot.FeatureRedirects:
		v := bundle.Verdict{Target: bundle.At(bundle.RealmFile, "/clients/%d/redirectUris", clientPlace(b, s.Client))}
		if hasFixedPort(s.Client.Settings) {
			v.Reason = "fixed_port"
		}
		return v
	case snapshot.FeatureEntryRule:
		if s.ID != s.Tenant.ID {
			return bundle.Verdict{Reason: "rule_kept"}
		}
	}
	return bundle.Verdict{}
}

// clientPlace returns the place of an app client in the realm.
func clientPlace(b *bundle.Build, c *snapshot.AppClient) int {
	for i := range b.Project.Clients {
		if b.Project.Clients[i].ID == c.ID {
			return i
		}
	}
	return 0
}

// providerPlace returns the place of a provider in the realm.
func providerPlace(b *bundle.Build, p *snapshot.Provider) int {
	n := 0
	for _, c := range b.Project.Clients {
		for i := range c.Providers {
			if c.Providers[i].ID == p.ID {
				return n
			}
			n++
		}
	}
	return 0
}

// hasFixedPort reports whether Keycloak takes the address of a native app with one port
// only: any port is for 127.0.0.1 (RedirectUtils of Keycloak 26).
func hasFixedPort(s *snapshot.ClientSettings) bool {
	for _, uri := range s.RedirectURIs {
		if strings.HasPrefix(uri, "http://[::1]") {
			return true
		}
	}
	return false
}

// providerTarget returns where a provider is in the realm.
func providerTarget(b *bundle.Build, p *snapshot.Provider) *bundle.Pointer {
	return bundle.At(bundle.RealmFile, "%s", fmt.Sprintf("/identityProviders/%d", providerPlace(b, p)))
}

func mappingFate() bundle.Fate {
	return bundle.Fate{
		Reason: "rule_kept",
		Status: bundle.Lossy,
		How:    "`auth/providers.json`",
		Note: "The rule puts users into a group when they sign in. It stands in providers.json; users of the exported " +
			"realm are in the groups that they were in at the export, and its sign-in changes none.",
		Remedy: "Add the rule to the provider in Keycloak as a claim to group mapper. Rules for GitHub need a provider " +
			"that reads organizations and teams itself, such as Dex.",
	}
}

func redirectFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "realm",
			Status: bundle.Exact,
			How:    "`redirectUris` of the client in `auth/keycloak-realm.json`",
			Note:   "The exported realm sends browsers back to the same addresses, and to no others.",
		},
		{
			Reason: "fixed_port",
			Status: bundle.Approximate,
			How:    "`redirectUris` of the client in `auth/keycloak-realm.json`",
			Note: "The exported realm sends browsers back to the same addresses, and to no others. At worst a native app " +
				"that listens at [::1] on another port is refused.",
			Remedy: "Have native apps listen at 127.0.0.1, where Keycloak takes any port.",
		},
	}
}

func brandingFate() bundle.Fate {
	return bundle.Fate{
		Reason: "texts_kept",
		Status: bundle.Lossy,
		How:    "`auth/clients.json`",
		Note: "Title, welcome text, color and the address of the logo of the sign-in page stand in clients.json; the " +
			"exported realm shows Keycloak's own page with the project's name.",
		Remedy: "Make a theme of them for Keycloak.",
	}
}

func entryFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "no_tenant",
			Status: bundle.Approximate,
			How:    "no tenant for new users of `auth/keycloak-realm.json`",
			Note: "Tokens of users who join the exported realm open nothing: they have no tenant. At worst somebody who " +
				"is not expected has an account there.",
			Remedy: "Give users that you let join the attribute postern_tenant in Keycloak, with the tenant's id.",
		},
		{
			Reason: "rule_kept",
			Status: bundle.Lossy,
			How:    "`users/entry.json`",
			Note: "Who may join the tenant, and the groups that they are put into, stand in entry.json; the exported realm " +
				"does not look at it.",
			Remedy: "Invite those users in Keycloak, or add them with their attribute postern_tenant and their groups.",
		},
	}
}

func consentFate() bundle.Fate {
	return bundle.Fate{
		Reason: "record_kept",
		Status: bundle.Lossy,
		How:    "`users/users.jsonl`",
		Note: "What users agreed to share with app clients stands with each user in users.jsonl; the exported realm " +
			"shares without asking.",
		Remedy: "Turn on Consent required for app clients of others in Keycloak; users are asked there again.",
	}
}
