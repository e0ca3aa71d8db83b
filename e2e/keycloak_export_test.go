package e2e

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/client"
	"postern/testkit"
	"postern/testkit/keycloak"
)

// peopleSignInAtTheExportedRealm lets ana sign in to a project, exports it, and imports its
// realm into a Keycloak of the customer's. There she signs in with the same provider, and
// is the same user in the same groups.
func peopleSignInAtTheExportedRealm(t *testing.T, issuer *keycloak.Server) {
	upstream, app := testkit.NewUpstream(t), newApplication(t)
	server := start(t, "")
	name, secret := "postern-"+t.Name(), "the secret of postern's app"
	made, err := connect(t, server.Config.PublicURL, "").CreateProxy(t.Context(), client.NewProxy{
		Target:       upstream.URL,
		Name:         "books",
		RequestsAuth: &client.NewAuth{Mode: "authenticate"},
		Login: &client.NewLogin{RedirectURIs: []string{app.callback}, Providers: []client.NewProvider{{
			Type:           "oidc",
			Issuer:         issuer.Issuer("shop"),
			ProviderChange: client.ProviderChange{ClientID: &name, ClientSecret: &secret},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	issuer.Register(t, "shop", name, secret, made.Login.Callbacks["oidc"])
	api := connect(t, server.Config.PublicURL, made.WorkspaceKey)
	p := sit(t)
	p.overlooks(issuer.URL)
	p.open(app.authorize(*made.Login))
	p.types("username", "ana")
	p.types("password", "correct horse")
	p.presses("Sign In")
	p.presses("Agree and continue")
	p.sees("Back at the application")
	before := app.exchange(t, *made.Login)
	putIntoGroups(t, api, before.Subject)

	files := exported(t, api, "books")
	provider := onlyProvider(t, files)
	home := keycloak.StartWith(t, map[string]string{"books-realm": files["auth/keycloak-realm.json"]},
		"LOGIN_SECRET_"+strings.ToUpper(provider)+"="+secret)
	callback := home.URL + "/realms/books/broker/" + provider + "/endpoint"
	if !strings.Contains(files["tenants/default/auth/callbacks.md"], strings.TrimPrefix(callback, home.URL)) {
		t.Errorf("callbacks.md does not name %s:\n%s", callback, files["tenants/default/auth/callbacks.md"])
	}
	issuer.AddRedirect(t, "shop", name, callback)

	moved := *made.Login
	moved.AuthorizeURL = home.Issuer("books") + "/protocol/openid-connect/auth"
	p.overlooks(home.URL)
	p.open(app.authorize(moved))
	p.follows("OpenID Connect (web)")
	p.sees("Back at the application")
	claims := claimsOf(t, accessToken(t, app, home.Issuer("books"), made.Login.ClientID))
	for name, want := range map[string]any{
		"sub": before.Subject, "azp": made.Login.ClientID, "provider": provider, "iss": home.Issuer("books"),
	} {
		if claims[name] != want {
			t.Errorf("%s is %v, want %v", name, claims[name], want)
		}
	}
	if groups, _ := claims["groups"].([]any); len(groups) != 1 || groups[0] != "/default/staff/north" {
		t.Errorf("groups are %v", claims["groups"])
	}
	if tenant, _ := claims["tenant"].(string); !strings.HasPrefix(tenant, "tnt_") {
		t.Errorf("the tenant is %v", claims["tenant"])
	}
}

// putIntoGroups puts a user into a group that is in another.
func putIntoGroups(t *testing.T, api *client.Client, user string) {
	t.Helper()
	person, err := api.User(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, name := range []string{"staff", "north"} {
		made, err := api.CreateGroup(t.Context(), person.Tenant, client.GroupInput{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, made.ID)
	}
	if _, err := api.NestGroup(t.Context(), groups[0], groups[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := api.SetGroupMember(t.Context(), groups[1], user, "member"); err != nil {
		t.Fatal(err)
	}
}

// exported returns the files of a data export of the project.
func exported(t *testing.T, api *client.Client, project string) map[string]string {
	t.Helper()
	queued, err := api.CreateExport(t.Context(), project, client.NewExport{Format: "data"})
	if err != nil {
		t.Fatal(err)
	}
	ready, err := api.WaitExport(t.Context(), queued.ID, func(client.Export) {})
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
	readJSON(t, send(t, http.MethodPost, issuer+"/protocol/openid-connect/token",
		"application/x-www-form-urlencoded", form.Encode()), &tokens)
	return tokens.Access
}
