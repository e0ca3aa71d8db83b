//go:build conformance

package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/testkit"
	"postern/testkit/sample"
	"postern/testkit/servers"
)

// Two versions of a real Keycloak import the exported realm, and the tokens that they then
// issue open the exported gateway on a real Kong.
func TestConformanceRealm_keycloak(t *testing.T) {
	for name, of := range testkit.ByName(map[string]struct {
		start     func(testing.TB, map[string]string, ...string) *servers.Keycloak
		algorithm string // of the app client with users; the machine's is RS256
	}{
		"the version of the compose file": {servers.StartKeycloakWith, "ES256"},
		"a newer one":                     {servers.StartNewerKeycloak, "EdDSA"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := newUpstream(t)
			folder := folderWithPeople(t, up, of.algorithm)
			text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(bundle.RealmFile)))
			if err != nil {
				t.Fatal(err)
			}
			home := of.start(t, map[string]string{"shop-realm": string(text)}, "LOGIN_SECRET_CLI_2=the robot's secret")
			kong, _ := startKong(t, folder, up, "LOGIN_ISSUER="+home.Issuer("shop"),
				"LOGIN_KEYS="+home.Issuer("shop")+"/protocol/openid-connect/certs")
			checkMachineToken(t, home, kong)
			checkUserToken(t, home, kong)
		})
	}
}

// folderWithPeople exports a project with users and a version that accepts their tokens, which
// the app client signs with the algorithm.
func folderWithPeople(t *testing.T, up *upstream, algorithm string) string {
	t.Helper()
	project, keys := tokenProject(up)
	people := sample.People(project)
	project.Clients[0].Settings.Algorithm = algorithm
	for i := range project.Tenants {
		if d := project.Tenants[i].Directory; d != nil {
			d.InviteOnly, d.Approvals = false, nil
		}
	}
	return exportWith(t, project, keys, bundle.Options{Consumers: true}, people)
}

// checkMachineToken has the machine get a token for itself.
func checkMachineToken(t *testing.T, home *servers.Keycloak, kong *peer) {
	t.Helper()
	tokens := ask(t, home, http.StatusOK, url.Values{
		"grant_type": {"client_credentials"}, "client_id": {"cli_2"}, "client_secret": {"the robot's secret"},
	})
	saw := opened(t, kong, tokens.Access)
	for name, want := range map[string]string{
		"X-Consumer-Username":   "cli_2",
		"X-Tenant-Id":           "tnt_2",
		"X-Authenticated-Scope": "orders:read",
	} {
		if got := saw.Get(name); got != want {
			t.Errorf("the upstream sees the machine with %s %q, want %q", name, got, want)
		}
	}
}

// checkUserToken has a user of the realm get a token with an API scope.
func checkUserToken(t *testing.T, home *servers.Keycloak, kong *peer) {
	t.Helper()
	withPassword(t, home, "usr_a00")
	form := url.Values{
		"grant_type": {"password"}, "client_id": {"cli_1"}, "username": {"usr_a00"}, "password": {"correct horse"},
		"scope": {"openid email orders:read"},
	}
	tokens := ask(t, home, http.StatusOK, form)
	saw := opened(t, kong, tokens.Access)
	for name, want := range map[string]string{
		"X-Authenticated-Userid": "usr_a00",
		"X-Consumer-Groups":      "inner, outer",
		"X-Tenant-Id":            "tnt_1",
	} {
		if got := saw.Get(name); got != want {
			t.Errorf("the upstream sees the user with %s %q, want %q", name, got, want)
		}
	}
	scopes := strings.Fields(saw.Get("X-Authenticated-Scope"))
	slices.Sort(scopes)
	if diff := cmp.Diff([]string{"email", "openid", "orders:read"}, scopes); diff != "" {
		t.Errorf("the upstream sees the user's scopes (-want +got):\n%s", diff)
	}
	refused(tokens.ID).send(t, kong, prod)
	refused(tokens.Refresh).send(t, kong, prod)

	form.Set("scope", "openid blog:read")
	ask(t, home, http.StatusBadRequest, form) // the app client may not request that
	withPassword(t, home, "usr_a01")
	form.Set("scope", "openid")
	form.Set("username", "usr_a01")
	ask(t, home, http.StatusBadRequest, form) // a frozen user
}

// withPassword gives a user a password, and lets the app client send it without asking for
// consent: people sign in with providers, which needs a browser (see e2e/keycloak_export_test.go).
func withPassword(t *testing.T, home *servers.Keycloak, user string) {
	t.Helper()
	home.Admin(t, http.MethodPut, "shop", "/users/"+user+"/reset-password", map[string]any{
		"type": "password", "value": "correct horse", "temporary": false,
	})
	var found []map[string]any
	raw := home.Admin(t, http.MethodGet, "shop", "/clients?clientId=cli_1", nil)
	if err := json.Unmarshal(raw, &found); err != nil || len(found) != 1 {
		t.Fatalf("%v in %s", err, raw)
	}
	found[0]["directAccessGrantsEnabled"], found[0]["consentRequired"] = true, false
	home.Admin(t, http.MethodPut, "shop", "/clients/"+found[0]["id"].(string), found[0])
}

// realmTokens is the answer of a token endpoint.
type realmTokens struct {
	Access  string `json:"access_token"`
	ID      string `json:"id_token"`
	Refresh string `json:"refresh_token"`
}

func ask(t *testing.T, home *servers.Keycloak, status int, form url.Values) realmTokens {
	t.Helper()
	answer, err := (&http.Client{Timeout: 30 * time.Second}).PostForm(home.Issuer("shop")+
		"/protocol/openid-connect/token", form)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var out struct {
		realmTokens
		Error string `json:"error_description"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil || answer.StatusCode != status {
		t.Fatalf("%s for the scope %q: %s %v %s, want %d", form.Get("client_id"), form.Get("scope"), answer.Status, err,
			out.Error, status)
	}
	return out.realmTokens
}

// opened returns what the upstream got with the token. All versions accept it.
func opened(t *testing.T, kong *peer, token string) http.Header {
	t.Helper()
	var saw http.Header
	for _, at := range placesOfTokens {
		out := kong.send(get("realm", at+"/x", "Authorization: Bearer "+token))
		if len(out.Seen) != 1 {
			t.Fatalf("%s: %d %s", at, out.Status, out.Code)
		}
		if lines := out.Seen[0].Headers["Authorization"]; cmp.Diff([]string{"Bearer " + token}, lines) != "" {
			t.Errorf("%s: the upstream got %d lines of Authorization", at, len(lines))
		}
		saw = out.Seen[0].Headers
	}
	return saw
}
