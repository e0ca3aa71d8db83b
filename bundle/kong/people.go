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

// judgePeople returns where the exported realm has what belongs to logins.
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

// judgeMapping returns what evaluates a provider's rule at a sign-in at the realm.
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

// judgeConsents returns where the realm has the consents of users, which are with each user.
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

// judgeScope returns where the realm has the audience or a scope of the project's API.
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

func mappingFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "mapper",
			Status: bundle.Approximate,
			How:    "a claim to group mapper of the provider in `auth/keycloak-realm.json`",
			Note: "Users who sign in at the exported realm join the group by the same claim, and leave it without. " +
				"At worst a user whom you put into the group yourself leaves it at a sign-in without the claim, and " +
				"one leaves it whose provider failed to state the claim.",
			Remedy: "Put users whom no claim names into a group that no rule names.",
		},
		{
			Reason: "rule_kept",
			Status: bundle.Lossy,
			How:    "`auth/providers.json`",
			Note: "The rule puts users into a group when they sign in. It stands in providers.json; users of the " +
				"exported realm are in the groups that they were in at the export, and its sign-in changes none: of " +
				"providers other than OpenID Connect and Auth0 Keycloak reads no claims for groups, and of an " +
				"address not whether it has been verified.",
			Remedy: "Move users between groups in Keycloak yourself, or put a provider before it that states groups " +
				"as claims, such as Dex for GitHub.",
		},
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
			Note: "The exported realm sends browsers back to the same addresses, and to no others. At worst a native " +
				"app that listens at [::1] on another port is refused.",
			Remedy: "Have native apps listen at 127.0.0.1, where Keycloak takes any port.",
		},
		{
			Reason: "asterisk",
			Status: bundle.Lossy,
			How:    "`redirectUris` of the client in `auth/keycloak-realm.json`, without those that end in `*`",
			Note: "The exported realm sends browsers back to the same addresses, and to no others. An address that " +
				"ends in * is left out, because it stands for any ending there: sign-ins that name it are refused.",
			Remedy: "Register an address without * at the end, in the application too, and export again.",
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

func signupFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "no_tenant",
			Status: bundle.Approximate,
			How:    "no tenant for new users of `auth/keycloak-realm.json`",
			Note: "Tokens of users who join the exported realm open nothing: they have no tenant. At worst somebody " +
				"who is not expected has an account there.",
			Remedy: "Give users that you let join the attribute postern_tenant in Keycloak, with the tenant's id.",
		},
		{
			Reason: "rule_kept",
			Status: bundle.Lossy,
			How:    "`users/signup.json`",
			Note: "Who may join the tenant, and the groups that they are put into, stand in signup.json; the " +
				"exported realm does not look at it.",
			Remedy: "Invite those users in Keycloak, or add them with their attribute postern_tenant and their groups.",
		},
	}
}

func consentFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "realm",
			Status: bundle.Approximate,
			How:    "`clientConsents` of users in `auth/keycloak-realm.json`",
			Note: "What users agreed to share with app clients stands with each user in the exported realm. It does " +
				"not ask them again, and asks new users as before. At worst a user is asked once more, for a scope " +
				"of another project.",
		},
		{
			Reason: "record_kept",
			Status: bundle.Lossy,
			How:    "`users/users.jsonl`",
			Note: "What users agreed to share with app clients stands with each user in users.jsonl. The project has " +
				"no app client any more that it would be for.",
		},
	}
}

func scopeFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "client_scope",
			Status: bundle.Approximate,
			How:    "a client scope of `auth/keycloak-realm.json`, with the audience",
			Note: "App clients that could ask for the scope ask the exported realm for it, no others can, and its " +
				"tokens are then for the audience. At worst a request is answered with more than it asked for: " +
				"Keycloak does not look at resource, and gives a machine all of its scopes.",
			Remedy: "Ask by scope where you asked by resource alone.",
		},
		{
			Reason: "until_tokens_end",
			Status: bundle.Lossy,
			How:    "plugin postern-auth, `audience`",
			Note: "Tokens for the audience that app clients have issued go on working until they end. The API has no " +
				"scope by which app clients could ask the exported realm for others.",
			Remedy: "Ask for no audience: tokens for the app client are accepted too.",
		},
		{
			Reason: "name_taken",
			Status: bundle.Lossy,
			How:    "plugin postern-auth, `audience`",
			Note: "Keycloak has a scope of its own by this name. Tokens with the scope that app clients have issued " +
				"go on working until they end; app clients cannot ask the exported realm for it.",
			Remedy: "Declare the scope under another name before the export.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "`project-config.json`",
			Note:   "The project has no app client that could ask for it.",
		},
	}
}
