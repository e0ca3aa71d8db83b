package login

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/browser"
	"postern/testkit/servers"
)

// peopleSignInAtTheExportedRealm lets ana sign in to a project, exports it, and imports its
// realm into a Keycloak of the customer's. There she signs in with the same provider, and
// is the same user in the same groups. She is not asked again what she agreed to share, the
// application gets the same API scope, and a role that she has got since puts her into its
// group.
func peopleSignInAtTheExportedRealm(t *testing.T, issuer *servers.Keycloak) {
	upstream, app := testkit.NewUpstream(t), newApplication(t)
	server := harness.Start(t)
	name, secret := "postern-"+t.Name(), "the secret of postern's app"
	made, err := client.Do(t.Context(), harness.Connect(t, server.Config.PublicURL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target:       upstream.URL,
			Name:         "books",
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
	issuer.Register(t, "shop", name, secret, made.Login.Callbacks["oidc"])
	stateRolesAndGroups(t, issuer, name)
	api := harness.Connect(t, server.Config.PublicURL, made.WorkspaceKey.Reveal())
	mapGroups(t, api, *made.Login, []contract.GroupMapping{
		{Claim: "realm_access.roles", Value: "mana", Match: "prefix", Group: "managers"},
	})
	offerOrders(t, api, "books", made.Login.ClientID)
	const scope = "openid profile email orders:read"
	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(issuer.URL)
	p.Open(withScope(app.authorize(*made.Login), scope))
	p.Types("username", "ana")
	p.Types("password", "correct horse")
	p.Presses("Sign In")
	p.Presses("Agree and continue")
	p.Sees("Back at the application")
	before := app.exchange(t, *made.Login)
	putIntoGroups(t, api, before.Subject)

	files := exported(t, api, "books")
	provider := onlyProvider(t, files)
	home := servers.StartKeycloakWith(t, map[string]string{"books-realm": files["auth/keycloak-realm.json"]},
		"LOGIN_SECRET_"+strings.ToUpper(provider)+"="+secret)
	callback := home.URL + "/realms/books/broker/" + provider + "/endpoint"
	if !strings.Contains(files["tenants/default/auth/callbacks.md"], strings.TrimPrefix(callback, home.URL)) {
		t.Errorf("callbacks.md does not name %s:\n%s", callback, files["tenants/default/auth/callbacks.md"])
	}
	issuer.AddRedirect(t, "shop", name, callback)

	ana := &keycloakUser{t: t, issuer: issuer, name: "ana"}
	ana.find()
	ana.setRole(http.MethodPost)
	moved := *made.Login
	moved.AuthorizeURL = home.Issuer("books") + "/protocol/openid-connect/auth"
	p.IgnoresErrorsAt(issuer.URL, home.URL)
	p.Open(withScope(app.authorize(moved), scope))
	p.Follows(strings.TrimPrefix(issuer.URL, "http://") + " (web)") // the provider's label, and the app client's
	p.Sees("Back at the application")
	claims := claimsOf(t, accessToken(t, app, home.Issuer("books"), made.Login.ClientID))
	checkClaims(t, claims, map[string]string{
		"sub":      before.Subject,
		"azp":      made.Login.ClientID,
		"provider": provider,
		"iss":      home.Issuer("books"),
		"aud":      "https://api.books.example " + made.Login.ClientID,
		"scope":    "email openid orders:read profile",
		"groups":   "/default/managers /default/staff/north",
	})
	if tenant, _ := claims["tenant"].(string); !strings.HasPrefix(tenant, "tnt_") {
		t.Errorf("the tenant is %v", claims["tenant"])
	}

	ana.setRole(http.MethodDelete)
	p.Open(withScope(app.authorize(moved), "openid groups") + "&prompt=login")
	p.Follows(strings.TrimPrefix(issuer.URL, "http://") + " (web)") // the provider's label, and the app client's
	p.Types("password", "correct horse")                            // prompt is for the provider too
	p.Presses("Sign In")
	p.Reaches(`//*[normalize-space()="see which groups you're in"]`) // that is asked for the first time
	p.Does("agree", chromedp.Click(chromedp.CSS("[name=accept]"), browser.Steady))
	p.Sees("Back at the application")
	claims = claimsOf(t, accessToken(t, app, home.Issuer("books"), made.Login.ClientID))
	checkClaims(t, claims, map[string]string{
		"aud": made.Login.ClientID, "scope": "groups openid", "groups": "/default/staff/north",
	})
}

// checkClaims compares claims, each with its words in order: those of a list, or of a text.
func checkClaims(t *testing.T, claims map[string]any, want map[string]string) {
	t.Helper()
	for name, text := range want {
		words := strings.Fields(strings.Trim(fmt.Sprint(claims[name]), "[]"))
		slices.Sort(words)
		wanted := strings.Fields(text)
		slices.Sort(wanted)
		if diff := cmp.Diff(wanted, words); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// offerOrders declares an API with a scope, which the app client may request.
func offerOrders(t *testing.T, api *client.Client, project, app string) {
	t.Helper()
	_, err := client.Do(t.Context(), api, contract.SetAPIScopes, contract.APIUpdate{
		ProjectPath: contract.ProjectPath{Project: project},
		Body: contract.API{
			Audience: "https://api.books.example",
			Scopes:   []contract.APIScope{{Name: "orders:read", Description: "read orders"}},
		},
	})
	if err == nil {
		_, err = client.Do(t.Context(), api, contract.UpdateAppClient,
			contract.AppClientSettings{APIScopes: &[]string{"orders:*"}}.Of(app))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withScope returns the address of an authorization request with other scopes.
func withScope(address, scope string) string {
	return strings.Replace(address, "scope=openid+profile+email", "scope="+url.QueryEscape(scope), 1)
}

// putIntoGroups puts a user into a group that is in another.
func putIntoGroups(t *testing.T, api *client.Client, user string) {
	t.Helper()
	person, err := client.Do(t.Context(), api, contract.GetUser, contract.UserPath{User: user})
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, name := range []string{"staff", "north"} {
		made, err := client.Do(t.Context(), api, contract.CreateGroup, contract.NewGroup{Name: name}.In(person.Tenant))
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, made.ID)
	}
	if _, err := client.Do(t.Context(), api, contract.NestGroup, contract.Nested(groups[0], groups[1])); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(
		t.Context(), api, contract.SetGroupMember, contract.InGroup(groups[1], user).As("member"),
	); err != nil {
		t.Fatal(err)
	}
}

// exported returns the files of a data export of the project.
func exported(t *testing.T, api *client.Client, project string) map[string]string {
	t.Helper()
	queued, err := client.Do(t.Context(), api, contract.CreateExport, contract.NewExport{Format: "data"}.In(project))
	if err != nil {
		t.Fatal(err)
	}
	ready, err := api.WaitExport(t.Context(), queued.ID, func(contract.Export) {})
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := api.Download(t.Context(), ready, &data); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data.Bytes()), int64(data.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		files[f.Name] = string(text)
	}
	return files
}

func onlyProvider(t *testing.T, files map[string]string) string {
	t.Helper()
	var doc struct{ Providers []struct{ ID string } }
	decode(t, []byte(files["tenants/default/auth/providers.json"]), &doc)
	if len(doc.Providers) != 1 {
		t.Fatalf("%d providers", len(doc.Providers))
	}
	return doc.Providers[0].ID
}

// accessToken exchanges the code that the browser came back with.
func accessToken(t *testing.T, app *application, issuer, clientID string) string {
	t.Helper()
	back := <-app.back
	form := url.Values{
		"grant_type":    {"authorization_code"},
		"client_id":     {clientID},
		"code":          {back.Get("code")},
		"redirect_uri":  {app.callback},
		"code_verifier": {app.verifier},
	}
	var tokens struct {
		Access string `json:"access_token"`
	}
	readJSON(t, harness.Send(t, http.MethodPost, issuer+"/protocol/openid-connect/token",
		"application/x-www-form-urlencoded", form.Encode()), &tokens)
	return tokens.Access
}
