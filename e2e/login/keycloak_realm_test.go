package login

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/bundle/realm"
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/servers"
)

// TestKeycloak_hostileProject gives a real Keycloak, newer than the one that exports are
// written for, a realm with every text as an attacker would write it, and more users than one
// of its files has.
func TestKeycloak_hostileProject(t *testing.T) {
	t.Parallel()
	p, _ := sample.Hostile("http://up.example")
	source := realm.Source{Project: p, PerFile: 3}
	users := sample.People(p)
	source.Users = func(t snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) {
			for u, err := range users(context.Background(), t) {
				if !yield(&u, err) {
					return
				}
			}
		}
	}
	for _, tenant := range p.Tenants {
		if tenant.Directory != nil {
			source.Tenants = append(source.Tenants, tenant)
		}
	}
	files := map[string]string{}
	var text strings.Builder
	if err := source.WriteRealm(&text); err != nil {
		t.Fatal(err)
	}
	files["shop-realm"] = text.String()
	userFiles := realm.Files{Source: source}
	defer userFiles.Close()
	for n := range source.UserFiles() {
		text.Reset()
		if err := userFiles.Write(&text, n); err != nil {
			t.Fatal(err)
		}
		files["shop-users-"+string(rune('0'+n))] = text.String()
	}
	server := servers.StartNewerKeycloak(
		t, files, "LOGIN_SECRET_CLI_2=the robot's secret", "LOGIN_SECRET_IDP_1=${HOME}",
	)

	var have []struct {
		ID         string
		FirstName  string
		Enabled    bool
		Attributes map[string][]string
	}
	decode(t, server.Admin(t, http.MethodGet, "shop", "/users?max=100&briefRepresentation=false", nil), &have)
	var ids []string
	for _, u := range have {
		ids = append(ids, u.ID)
		switch u.ID {
		case "usr_a01":
			if u.FirstName != strings.ToValidUTF8(sample.Nasty, "\ufffd") || u.Enabled {
				t.Errorf("the frozen user is %q, enabled %t", u.FirstName, u.Enabled)
			}
		case "usr_b00":
			if got := u.Attributes["postern_tenant"]; !slices.Equal(got, []string{"tnt_2"}) {
				t.Errorf("the tenant of usr_b00 is %v", got)
			}
		}
	}
	slices.Sort(ids)
	want := []string{"usr_a00", "usr_a01", "usr_a02", "usr_a03", "usr_a04", "usr_b00", "usr_b01"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	groups := string(server.Admin(t, http.MethodGet, "shop", "/users/usr_b00/groups", nil))
	if !strings.Contains(groups, `"/acme/outer/inner"`) {
		t.Errorf("usr_b00 is in %s", groups)
	}
	links := string(server.Admin(t, http.MethodGet, "shop", "/users/usr_a00/federated-identity", nil))
	if !strings.Contains(links, `"a-0"`) || !strings.Contains(links, `"idp_1"`) {
		t.Errorf("usr_a00 is known as %s", links)
	}
	var realmOf struct{ DisplayName string }
	decode(t, server.Admin(t, http.MethodGet, "shop", "", nil), &realmOf)
	if realmOf.DisplayName != strings.ToValidUTF8(sample.Nasty, "\ufffd") {
		t.Errorf("the realm is called %q", realmOf.DisplayName)
	}
	token := machineToken(t, server, "cli_2", "the robot's secret")
	if token["sub"] != "cli_2" || token["tenant"] != "tnt_2" || token["scope"] != "orders:read" {
		t.Errorf("the machine's token says %v", token)
	}
	for _, audience := range []string{"https://api.shop.example", "cli_2"} {
		if aud := fmt.Sprint(token["aud"]); !strings.Contains(aud, audience) {
			t.Errorf("the machine's token is for %s, not for %s", aud, audience)
		}
	}
	checkScopes(t, server)
	checkMappers(t, server)
}

// checkScopes checks that users are not asked again for what they agreed to, and read what
// the project says of a scope.
func checkScopes(t *testing.T, server *servers.Keycloak) {
	t.Helper()
	var consents []struct {
		ClientID string
		Granted  []string `json:"grantedClientScopes"`
	}
	decode(t, server.Admin(t, http.MethodGet, "shop", "/users/usr_a00/consents", nil), &consents)
	if len(consents) != 1 || consents[0].ClientID != "cli_1" {
		t.Fatalf("usr_a00 agreed to share with %v", consents)
	}
	slices.Sort(consents[0].Granted)
	if diff := cmp.Diff([]string{"email", "orders:read"}, consents[0].Granted); diff != "" {
		t.Errorf("usr_a00 agreed to (-want +got):\n%s", diff)
	}
	var scopes []struct {
		Name       string
		Attributes map[string]string
	}
	decode(t, server.Admin(t, http.MethodGet, "shop", "/client-scopes", nil), &scopes)
	texts := map[string]string{}
	for _, one := range scopes {
		texts[one.Name] = one.Attributes["consent.screen.text"]
	}
	if len(scopes) != 14 || texts["orders:read"] != strings.ToValidUTF8(sample.Nasty, "\ufffd") ||
		texts["basic"] != "" {
		t.Errorf("the client scopes are %q", texts)
	}
}

// checkMappers checks that Keycloak has the group mappings that it can evaluate as they were.
func checkMappers(t *testing.T, server *servers.Keycloak) {
	t.Helper()
	var mappers []struct {
		Mapper string `json:"identityProviderMapper"`
		Config map[string]string
	}
	decode(t, server.Admin(t, http.MethodGet, "shop", "/identity-provider/instances/idp_2/mappers", nil), &mappers)
	got := map[string]string{}
	for _, one := range mappers {
		var claims []struct{ Key, Value string }
		decode(t, []byte(one.Config["claims"]), &claims)
		got[claims[0].Key] = claims[0].Value + " in " + one.Config["group"]
	}
	nasty := strings.ToValidUTF8(sample.Nasty, "\ufffd")
	if len(got) != 3 || got[`https://acme\.example/roles`] != nasty+" in /default/outer/inner" ||
		got["groups"] != `(?s)\x2fsales.* in /default/outer` {
		t.Errorf("the mappers of idp_2 are %q", got)
	}
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(into); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

// machineToken returns the claims of a token that an app client gets for itself.
func machineToken(t *testing.T, server *servers.Keycloak, id, secret string) map[string]any {
	t.Helper()
	answer, err := (&http.Client{Timeout: 30 * time.Second}).PostForm(server.Issuer("shop")+
		"/protocol/openid-connect/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Access string `json:"access_token"`
		Error  string `json:"error_description"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || got.Access == "" {
		t.Fatalf("%s: %v %s", answer.Status, err, got.Error)
	}
	return claimsOf(t, got.Access)
}

// claimsOf returns the claims of a token, which is not verified.
func claimsOf(t *testing.T, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q isn't a token", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	decode(t, raw, &claims)
	return claims
}
