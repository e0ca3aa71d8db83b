package login

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/servers"
)

// rolesAndGroupsOfKeycloakAreMapped maps a realm role, which userinfo states, and a group,
// which the ID token states, to groups of the tenant. The upstream gets them with each call;
// once Keycloak takes them away, the next sign-in ends them.
func rolesAndGroupsOfKeycloakAreMapped(t *testing.T, issuer *servers.Keycloak) {
	upstream, app := testkit.NewUpstream(t), newApplication(t)
	server := harness.Start(t)
	name, secret := "postern-"+t.Name(), "the secret of postern at Keycloak"
	made, err := client.Do(t.Context(), harness.Connect(t, server.Config.PublicURL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target:       upstream.URL,
			Name:         "shop",
			RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
			Login: &contract.NewLogin{RedirectURIs: []string{app.callback}, Providers: []contract.NewProvider{{
				Type:   "oidc",
				Issuer: issuer.Issuer("shop"),
				ProviderSettings: contract.ProviderSettings{
					ClientID:     &name,
					ClientSecret: new(contract.Secret(secret)),
				},
			}}},
		}.Request())
	if err != nil {
		t.Fatal(err)
	}
	mapGroups(
		t,
		harness.Connect(t, server.Config.PublicURL, made.WorkspaceKey.Reveal()),
		*made.Login,
		[]contract.GroupMapping{
			{Claim: "realm_access.roles", Value: "manager", Group: "managers"},
			{Claim: "groups", Value: "/staff/", Match: "prefix", Group: "staff"},
		},
	)
	issuer.Register(t, "shop", name, secret, made.Login.Callbacks["oidc"])
	stateRolesAndGroups(t, issuer, name)
	ben := newKeycloakUser(t, issuer)
	ben.setRole(http.MethodPost)
	ben.setGroup(http.MethodPut)

	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(issuer.URL)
	p.Open(app.authorize(*made.Login))
	p.Types("username", ben.name)
	p.Types("password", "correct horse")
	p.Presses("Sign In")
	p.Presses("Agree and continue")
	p.Sees("Back at the application")
	gets := func(when, want string) {
		t.Helper()
		token := app.exchange(t, *made.Login).access
		if status, code := callWith(t, made.Project.Environments[0].URL, token); status != http.StatusOK {
			t.Fatalf("%s: %d %s", when, status, code)
		}
		seen := upstream.Requests()
		if got := strings.Join(seen[len(seen)-1].Headers["X-Consumer-Groups"], "|"); got != want {
			t.Errorf("%s: the upstream gets the groups %q, want %q", when, got, want)
		}
	}
	gets("with the role and the group", "managers, staff")

	again := func() {
		t.Helper()
		p.Open(app.authorize(*made.Login))
		p.Sees("Back at the application")
	}
	ben.setRole(http.MethodDelete)
	again()
	gets("without the role", "staff")
	ben.setGroup(http.MethodDelete)
	again()
	gets("without either", "")
	ben.setRole(http.MethodPost)
	ben.setGroup(http.MethodPut)
	again()
	gets("with both again", "managers, staff")
}

// mapGroups creates the groups that rules name, and gives the rules to the login's provider.
func mapGroups(t *testing.T, api *client.Client, login contract.ProxyLogin, rules []contract.GroupMapping) {
	t.Helper()
	app, err := client.Do(t.Context(), api, contract.GetAppClient, contract.AppClientPath{Client: login.ClientID})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		if _, err := client.Do(
			t.Context(), api, contract.CreateGroup, contract.NewGroup{Name: rule.Group}.In(app.Tenant),
		); err != nil {
			t.Fatal(err)
		}
	}
	of := contract.AppClientPath{Client: login.ClientID}
	for provider, err := range client.Each(t.Context(), api, contract.ListProviders, of) {
		if err == nil {
			_, err = client.Do(t.Context(), api, contract.SetGroupMappings, contract.GroupMappingsUpdate{
				ProviderPath: contract.ProviderPath{Provider: provider.ID},
				Body:         contract.GroupMappingRules{Mappings: rules},
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// stateRolesAndGroups has Keycloak state realm roles in userinfo, and groups with their paths
// in the ID token (keycloak.org/docs/latest/server_admin#_protocol-mappers). By itself it
// states roles in access tokens only.
func stateRolesAndGroups(t *testing.T, issuer *servers.Keycloak, app string) {
	t.Helper()
	var found []struct{ ID string }
	readAdmin(t, issuer, "/clients?clientId="+app, &found)
	issuer.Admin(t, http.MethodPost, "shop", "/clients/"+found[0].ID+"/protocol-mappers/add-models", []map[string]any{
		{
			"name":           "roles in userinfo",
			"protocol":       "openid-connect",
			"protocolMapper": "oidc-usermodel-realm-role-mapper",
			"config": map[string]string{
				"claim.name":           "realm_access.roles",
				"jsonType.label":       "String",
				"multivalued":          "true",
				"userinfo.token.claim": "true",
			},
		},
		{
			"name":           "groups in the ID token",
			"protocol":       "openid-connect",
			"protocolMapper": "oidc-group-membership-mapper",
			"config":         map[string]string{"claim.name": "groups", "full.path": "true", "id.token.claim": "true"},
		},
	})
}

// keycloakUser is a user of the realm shop.
type keycloakUser struct {
	t        *testing.T
	issuer   *servers.Keycloak
	id, name string
}

func newKeycloakUser(t *testing.T, issuer *servers.Keycloak) *keycloakUser {
	t.Helper()
	u := &keycloakUser{t: t, issuer: issuer, name: "ben-" + strings.ToLower(rand.Text())}
	issuer.Admin(t, http.MethodPost, "shop", "/users", map[string]any{
		"username": u.name, "enabled": true, "email": u.name + "@example.com", "emailVerified": true,
		"firstName": "Ben", "lastName": "Gomez",
		"credentials": []map[string]any{{"type": "password", "value": "correct horse"}},
	})
	u.find()
	return u
}

// find looks the user's id up.
func (u *keycloakUser) find() {
	u.t.Helper()
	var found []struct{ ID string }
	readAdmin(u.t, u.issuer, "/users?exact=true&username="+u.name, &found)
	u.id = found[0].ID
}

// setRole gives the realm role manager to the user (POST), or takes it away (DELETE).
func (u *keycloakUser) setRole(method string) {
	u.t.Helper()
	var role map[string]any
	readAdmin(u.t, u.issuer, "/roles/manager", &role)
	u.issuer.Admin(u.t, method, "shop", "/users/"+u.id+"/role-mappings/realm", []any{role})
}

// setGroup puts the user into the group /staff/north (PUT), or takes them out (DELETE).
func (u *keycloakUser) setGroup(method string) {
	u.t.Helper()
	var group struct{ ID string }
	readAdmin(u.t, u.issuer, "/group-by-path/staff/north", &group)
	u.issuer.Admin(u.t, method, "shop", "/users/"+u.id+"/groups/"+group.ID, nil)
}

func readAdmin(t *testing.T, issuer *servers.Keycloak, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(issuer.Admin(t, http.MethodGet, "shop", path, nil), into); err != nil {
		t.Fatalf("read %s of Keycloak: %v", path, err)
	}
}
