package kong

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"postern/bundle"
	"postern/bundle/realm"
	"postern/core/snapshot"
)

// judgePeople returns the place of a login's subject in the exported realm.
func judgePeople(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	switch s.Feature {
	case snapshot.FeatureRedirects:
		v := bundle.Verdict{Target: bundle.At(bundle.RealmFile, "/clients/%d/redirectUris", clientPlace(b, s.Client))}
		switch {
		case len(realm.LeftOut(s.Client.Settings.RedirectURIs)) > 0:
			v.Reason = "asterisk"
		case hasFixedPort(s.Client.Settings):
			v.Reason = "fixed_port"
		}
		return v
	case snapshot.FeatureSignupPolicy:
		if s.ID != s.Tenant.ID {
			return bundle.Verdict{Reason: "rule_kept"}
		}
	case snapshot.FeatureGroupMapping:
		return judgeMapping(b, s)
	case snapshot.FeatureConsents:
		return judgeConsents(b)
	case snapshot.FeatureAPIScope:
		return judgeScope(b, s)
	}
	return bundle.Verdict{}
}

// judgeMapping returns the mapper that evaluates a provider's rule when a user signs in at the realm.
func judgeMapping(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	_, place, _ := strings.Cut(s.ID, ":")
	n, err := strconv.Atoi(place)
	if err != nil {
		return bundle.Verdict{Reason: "rule_kept"}
	}
	mapper, found := b.GroupMapper(s.Provider.ID, n)
	if !found {
		return bundle.Verdict{Reason: "rule_kept"}
	}
	return bundle.Verdict{Target: bundle.At(bundle.RealmFile, "/identityProviderMappers/%d", mapper)}
}

// judgeConsents returns the place of the users' consents in the realm, which has them with each user.
func judgeConsents(b *bundle.Build) bundle.Verdict {
	if !b.HasRealm() {
		return bundle.Verdict{Reason: "record_kept"}
	}
	file := bundle.RealmFile
	if b.Realm(context.Background(), "").UserFiles() > 0 {
		file = bundle.RealmUsersFile(0)
	}
	return bundle.Verdict{Target: bundle.At(file, "/users")}
}

// judgeScope returns the place of the API's audience, or of one of its scopes, in the realm.
func judgeScope(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	api := b.Project.API
	inRealm := func(one snapshot.APIScope) bool { return realm.HasScope(one.Name) }
	switch first := slices.IndexFunc(api.Scopes, inRealm); {
	case !b.HasRealm():
		return bundle.Verdict{Reason: "unused"}
	case strings.HasSuffix(s.ID, ":audience"):
		if first < 0 {
			return bundle.Verdict{Reason: "until_tokens_end"}
		}
		return bundle.Verdict{Target: bundle.At(bundle.RealmFile, "/clientScopes/0/protocolMappers/0")}
	case !realm.HasScope(s.Name):
		return bundle.Verdict{Reason: "name_taken"}
	}
	return bundle.Verdict{Target: bundle.At(bundle.RealmFile, "/clientScopes/%d", realm.ScopePlace(api, s.Name))}
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

// hasFixedPort reports whether Keycloak accepts the address of a native app with one port only: it accepts any port
// only for 127.0.0.1 (RedirectUtils of Keycloak 26).
func hasFixedPort(s *snapshot.ClientSettings) bool {
	for _, uri := range s.RedirectURIs {
		if strings.HasPrefix(uri, "http://[::1]") {
			return true
		}
	}
	return false
}

// providerTarget returns the place of a provider in the realm.
func providerTarget(b *bundle.Build, p *snapshot.Provider) *bundle.Pointer {
	return bundle.At(bundle.RealmFile, "%s", fmt.Sprintf("/identityProviders/%d", providerPlace(b, p)))
}

func mappingFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "mapper",
			Status: bundle.Approximate,
			How:    "a claim-to-group mapper of the provider in `auth/keycloak-realm.json`",
			Note: "Users who sign in to the exported realm join the group if they have the same claim, and leave it " +
				"if they don't. At worst, users that you add to the group yourself are removed when they sign in " +
				"without the claim, and so are users whose provider fails to send it.",
			Remedy: "Put users who don't have the claim into a group that no group mapping uses.",
		},
		{
			Reason: "rule_kept",
			Status: bundle.Lossy,
			How:    "`auth/providers.json`",
			Note: "The mapping, which adds users to a group when they sign in, is in providers.json. Users in the " +
				"exported realm keep the groups that they had at the time of the export. Signing in to the realm " +
				"doesn't change their groups, because Keycloak reads claims for groups only from OpenID Connect and " +
				"Auth0 providers, and can't see whether an email address is verified.",
			Remedy: "Move users between groups in Keycloak yourself. Alternatively, use an identity broker " +
				"in front of Keycloak, such as Dex for GitHub, to send groups as claims.",
		},
	}
}

func redirectFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "realm",
			Status: bundle.Exact,
			How:    "`redirectUris` of the client in `auth/keycloak-realm.json`",
			Note:   "The exported realm redirects browsers only to the same URLs as before.",
		},
		{
			Reason: "fixed_port",
			Status: bundle.Approximate,
			How:    "`redirectUris` of the client in `auth/keycloak-realm.json`",
			Note: "The exported realm redirects browsers only to the same URLs as before. At worst, a native app " +
				"that listens on a different port of [::1] is refused.",
			Remedy: "Have native apps listen on 127.0.0.1, for which Keycloak accepts any port.",
		},
		{
			Reason: "asterisk",
			Status: bundle.Lossy,
			How:    "`redirectUris` of the client in `auth/keycloak-realm.json`, without those that end in `*`",
			Note: "The exported realm redirects browsers only to the same URLs as before. A URL that ends in * is " +
				"left out, because Keycloak would accept any ending in its place. Sign-ins that use it are refused.",
			Remedy: "Register a URL that doesn't end in *, change the application to use it, and export again.",
		},
	}
}

func brandingFate() bundle.Fate {
	return bundle.Fate{
		Reason: "texts_kept",
		Status: bundle.Lossy,
		How:    "`auth/clients.json`",
		Note: "The sign-in page's title, welcome text, color and logo URL are in clients.json. The exported realm " +
			"shows Keycloak's own page with the project's name.",
		Remedy: "To keep this branding, create a Keycloak theme.",
	}
}

func signupFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "no_tenant",
			Status: bundle.Approximate,
			How:    "new users in `auth/keycloak-realm.json` have no tenant",
			Note: "Users who join the exported realm have no tenant, so calls with their tokens are refused. At " +
				"worst, someone you didn't expect gets an account in the realm.",
			Remedy: "For each user that you admit, set the `postern_tenant` attribute in Keycloak to the tenant's ID.",
		},
		{
			Reason: "rule_kept",
			Status: bundle.Lossy,
			How:    "`users/signup.json`",
			Note: "The sign-up policy is in signup.json, with the groups that new users are added to. The exported " +
				"realm doesn't use it.",
			Remedy: "In Keycloak, invite the users that the policy admits, or add them with their groups and the " +
				"`postern_tenant` attribute.",
		},
	}
}

func consentFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "realm",
			Status: bundle.Approximate,
			How:    "`clientConsents` of users in `auth/keycloak-realm.json`",
			Note: "The exported realm contains each user's consents for app clients. It doesn't ask these users for " +
				"consent again, and asks new users as before. At worst, a user is asked again for consent to another " +
				"project's scope.",
		},
		{
			Reason: "record_kept",
			Status: bundle.Lossy,
			How:    "`users/users.jsonl`",
			Note: "Each user's consents to app clients are in users.jsonl. The project no longer has an app client " +
				"that needs them.",
		},
	}
}

func scopeFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "client_scope",
			Status: bundle.Approximate,
			How:    "a client scope of `auth/keycloak-realm.json`, with the audience",
			Note: "The same app clients can request the scope from the exported realm, and tokens with the scope " +
				"have the same audience as before. At worst, a client gets more than it requested: Keycloak ignores " +
				"the `resource` parameter, and gives a machine all of its scopes.",
			Remedy: "If an application requests tokens only with the `resource` parameter, have it request scopes " +
				"instead.",
		},
		{
			Reason: "until_tokens_end",
			Status: bundle.Lossy,
			How:    "the `postern-auth` plugin, `audience`",
			Note: "Tokens that app clients have received for the audience keep working until they expire. The API " +
				"doesn't have a scope that app clients could use to request new tokens from the exported realm.",
			Remedy: "Don't request an audience. Tokens for the app client are also accepted.",
		},
		{
			Reason: "name_taken",
			Status: bundle.Lossy,
			How:    "the `postern-auth` plugin, `audience`",
			Note: "Keycloak has its own scope with this name. Tokens that app clients have received with the " +
				"project's scope keep working until they expire. App clients can't request the project's scope from " +
				"the exported realm.",
			Remedy: "Give the scope a different name before the export.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "`project-config.json`",
			Note:   "No app client in the project can request this audience or scope.",
		},
	}
}
