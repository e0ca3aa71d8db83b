package realm_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/bundle/realm"
	"postern/core/snapshot"
)

// realmFile has the fields of a realm that these tests read.
type realmFile struct {
	ClientScopes []struct {
		Name            string
		Attributes      map[string]string
		ProtocolMappers []struct{ Config map[string]string }
	}
	Clients []struct {
		ClientID             string
		ConsentRequired      bool
		DefaultClientScopes  []string
		OptionalClientScopes []string
	}
	IdentityProviderMappers []struct {
		IdentityProviderAlias  string
		IdentityProviderMapper string
		Config                 map[string]string
	}
	Users []struct {
		ID             string
		ClientConsents []struct {
			ClientID            string
			GrantedClientScopes []string
		}
	}
	Components map[string][]struct{ ProviderID string }

	SSOSessionIdleTimeout, SSOSessionMaxLifespan int
}

func writeRealm(t *testing.T, s realm.Source) realmFile {
	t.Helper()
	var text strings.Builder
	if err := s.WriteRealm(&text); err != nil {
		t.Fatal(err)
	}
	var out realmFile
	if err := json.Unmarshal([]byte(text.String()), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// App clients can request the API scopes that they could request, and machines get them all.
func TestClientScopes_apiScopes(t *testing.T) {
	always, openID := []string{"basic", "acr", "web-origins"},
		[]string{"profile", "email", "groups", "groups:manage", "offline_access", "address", "phone"}
	people := []string{"https://app.example/back"}
	for name, tt := range map[string]struct {
		listed, redirects []string
		always, optional  []string
	}{
		"none":               {nil, people, always, openID},
		"one":                {[]string{"orders:read"}, people, always, append(openID, "orders:read")},
		"a family":           {[]string{"orders:*"}, people, always, append(openID, "orders:read", "orders:write")},
		"half a family":      {[]string{"ord*"}, people, always, openID},
		"a name of Keycloak": {[]string{"basic"}, people, always, openID},
		"a machine":          {[]string{"orders:write"}, nil, append(always, "orders:write"), openID},
	} {
		t.Run(name, func(t *testing.T) {
			s := source()
			s.Project.Clients[0].Settings.APIScopes = tt.listed
			s.Project.Clients[0].Settings.RedirectURIs = tt.redirects
			got := writeRealm(t, s).Clients[0]
			if diff := cmp.Diff(tt.always, got.DefaultClientScopes); diff != "" {
				t.Errorf("scopes of every token (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.optional, got.OptionalClientScopes); diff != "" {
				t.Errorf("scopes to ask for (-want +got):\n%s", diff)
			}
			if got.ConsentRequired != (len(tt.redirects) > 0) {
				t.Errorf("users are asked: %t", got.ConsentRequired)
			}
		})
	}
}

// A realm that declares client scopes has no others: the list must include those that Keycloak's clients and tokens
// need, without duplicates.
func TestClientScopes_complete(t *testing.T) {
	s := source()
	file, have := writeRealm(t, s), map[string]int{}
	for i, scope := range file.ClientScopes {
		if have[scope.Name]++; have[scope.Name] > 1 {
			t.Errorf("the scope %s is there twice", scope.Name)
		}
		if place := realm.ScopePlace(s.Project.API, scope.Name); realm.HasScope(scope.Name) && place != i {
			t.Errorf("%s is at %d, not at %d", scope.Name, i, place)
		}
	}
	for _, c := range file.Clients {
		for _, name := range append(c.DefaultClientScopes, c.OptionalClientScopes...) {
			if have[name] == 0 {
				t.Errorf("the app client %s has the scope %s, which the realm has not", c.ClientID, name)
			}
		}
	}
	for _, name := range []string{"basic", "acr", "web-origins", "roles", "profile", "email", "offline_access"} {
		if have[name] == 0 {
			t.Errorf("the realm has no scope %s", name)
		}
	}
	audience := file.ClientScopes[0].ProtocolMappers[0].Config["included.custom.audience"]
	if audience != s.Project.API.Audience {
		t.Errorf("tokens with the scope %s are for %q", file.ClientScopes[0].Name, audience)
	}
}

// Keycloak refuses a realm with a consent for a client or scope that it does not have.
func TestConsents_knownNames(t *testing.T) {
	for _, u := range writeRealm(t, source()).Users {
		if !strings.HasPrefix(u.ID, "usr_a") {
			if len(u.ClientConsents) > 0 {
				t.Errorf("%s of another tenant agreed to share with %v", u.ID, u.ClientConsents)
			}
			continue
		}
		if len(u.ClientConsents) != 1 || u.ClientConsents[0].ClientID != "cli_1" {
			t.Fatalf("%s agreed to share with %v", u.ID, u.ClientConsents)
		}
		if diff := cmp.Diff([]string{"email", "orders:read"}, u.ClientConsents[0].GrantedClientScopes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", u.ID, diff)
		}
	}
}

func TestGroupMappers_comparison(t *testing.T) {
	for name, tt := range map[string]struct {
		kind string
		rule snapshot.GroupMapping
		want map[string]string // nil: none
	}{
		"a value": {"oidc", snapshot.GroupMapping{Claim: "realm_access.roles", Value: "a.b", Match: "exact"},
			map[string]string{
				"claims": `[{"key":"realm_access.roles","value":"a.b"}]`, "are.claim.values.regex": "false",
			}},
		"a beginning": {"oidc", snapshot.GroupMapping{Claim: "groups", Value: `/a\E.*é`, Match: "prefix"},
			map[string]string{
				"claims":                 `[{"key":"groups","value":"(?s)\\x2fa\\x5cE\\x2e\\x2aé.*"}]`,
				"are.claim.values.regex": "true",
			}},
		"a URL": {"auth0", snapshot.GroupMapping{Claim: "https://acme.example/roles", Value: "x", Match: "exact"},
			map[string]string{
				"claims":                 `[{"key":"https://acme\\.example/roles","value":"x"}]`,
				"are.claim.values.regex": "false",
			}},
		"an address":  {"oidc", snapshot.GroupMapping{Claim: "email", Value: "a@example.com", Match: "exact"}, nil},
		"a backslash": {"oidc", snapshot.GroupMapping{Claim: `a\\b`, Value: "x", Match: "exact"}, nil},
		"of GitHub":   {"github", snapshot.GroupMapping{Claim: "teams", Value: "acme/sre", Match: "exact"}, nil},
		"of Google":   {"google", snapshot.GroupMapping{Claim: "hd", Value: "acme.example", Match: "exact"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := source()
			tt.rule.Group = "inner"
			provider := &s.Project.Clients[0].Providers[1]
			provider.Type, provider.Settings.Mappings = tt.kind, []snapshot.GroupMapping{{Group: "gone"}, tt.rule}
			file, places := writeRealm(t, s), s.GroupMappers()
			place, found := places["idp_2"][1]
			if found != (tt.want != nil) || len(places) > 1 {
				t.Fatalf("the mappers are %v", places)
			}
			if !found {
				return
			}
			got := file.IdentityProviderMappers[place]
			tt.want["group"], tt.want["syncMode"] = "/default/outer/inner", "FORCE"
			if diff := cmp.Diff(tt.want, got.Config); diff != "" || got.IdentityProviderAlias != "idp_2" {
				t.Errorf("%s (-want +got):\n%s", got.IdentityProviderAlias, diff)
			}
		})
	}
}

// Refresh tokens end with the session of their user at the realm.
func TestSessions_lifetime(t *testing.T) {
	for name, tt := range map[string]struct {
		days, idle, max int
	}{
		"shorter than the hosted one": {0, 24 * 3600, 7 * 24 * 3600},
		"longer":                      {30, 30 * 24 * 3600, 30 * 24 * 3600},
	} {
		t.Run(name, func(t *testing.T) {
			s := source()
			s.Project.Clients[0].Settings.RefreshFor = time.Duration(tt.days) * 24 * time.Hour
			got := writeRealm(t, s)
			if got.SSOSessionIdleTimeout != tt.idle || got.SSOSessionMaxLifespan != tt.max {
				t.Errorf("%d and %d seconds, want %d and %d",
					got.SSOSessionIdleTimeout, got.SSOSessionMaxLifespan, tt.idle, tt.max)
			}
		})
	}
}

// Keys for what app clients sign with are there before the first token.
func TestKeys_algorithms(t *testing.T) {
	own := []string{"rsa-generated", "rsa-enc-generated", "hmac-generated", "aes-generated"}
	for name, want := range map[string][]string{
		"RS256": nil,
		"ES256": append(own, "ecdsa-generated"),
		"EdDSA": append(own, "eddsa-generated"),
	} {
		t.Run(name, func(t *testing.T) {
			s := source()
			s.Project.Clients[0].Settings.Algorithm = name
			var got []string
			for _, one := range writeRealm(t, s).Components["org.keycloak.keys.KeyProvider"] {
				got = append(got, one.ProviderID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("providers of keys (-want +got):\n%s", diff)
			}
		})
	}
}
