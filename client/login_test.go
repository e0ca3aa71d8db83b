package client_test

import (
	"testing"

	"postern/client"
	"postern/platform/fault"
)

// An app client and its provider, as whoever made them sees them.
func newLogin(t *testing.T, api *client.Client) (client.AppClient, client.Provider) {
	t.Helper()
	if _, err := api.CreateTenant(t.Context(), client.NewTenant{Name: "acme"}); err != nil {
		t.Fatal(err)
	}
	acme, err := api.Tenant(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	name, title, color, confidential := "web", "Acme", "#0a7d55", true
	app, err := api.CreateAppClient(t.Context(), acme.ID, client.AppClientChange{
		Name:         &name,
		Confidential: &confidential,
		RedirectURIs: &[]string{"https://app.example.com/cb"},
		Branding:     &client.BrandingChange{Title: &title, Color: &color},
	})
	if err != nil || app.Secret == "" {
		t.Fatalf("%+v, %v", app, err)
	}
	id, secret := "app", "secret"
	in := client.NewProvider{
		Type:           "auth0",
		Domain:         "8.8.8.8",
		ProviderChange: client.ProviderChange{ClientID: &id, ClientSecret: &secret},
	}
	provider, err := api.CreateProvider(t.Context(), app.ID, in)
	if err != nil || !provider.HasSecret {
		t.Fatalf("%+v, %v", provider, err)
	}
	return app, provider
}

func TestEveryFieldOfALoginIsKept(t *testing.T) {
	server := start(t)
	api, proxy := workspace(t, server)
	app, _ := newLogin(t, api)
	same[client.AppClient](t, server+"/api/v1/app-clients/"+app.ID, proxy.WorkspaceKey)
	same[listOf[client.AppClient]](t, server+"/api/v1/tenants/"+app.Tenant+"/app-clients", proxy.WorkspaceKey)
	same[listOf[client.Provider]](t, server+"/api/v1/app-clients/"+app.ID+"/providers", proxy.WorkspaceKey)
}

func TestALoginThatSomebodyElseHasChangedIsLeftAlone(t *testing.T) {
	api, _ := workspace(t, start(t))
	app, provider := newLogin(t, api)
	welcome, off := "Hello", false
	for range 2 { // the second with an ETag of its past
		_, err := api.IfMatch(
			app.ETag,
		).UpdateAppClient(
			t.Context(), app.ID, client.AppClientChange{Branding: &client.BrandingChange{Welcome: &welcome}},
		)
		if (welcome == "Hello") != (err == nil) || (err != nil && fault.KindOf(err) != fault.Stale) {
			t.Errorf("the app client's welcome %q: %v", welcome, err)
		}
		welcome = "Goodbye"
	}
	for range 2 {
		_, err := api.IfMatch(
			provider.ETag,
		).UpdateProvider(
			t.Context(), provider.ID, client.ProviderChange{Enabled: &off},
		)
		if off != (err != nil) || (err != nil && fault.KindOf(err) != fault.Stale) {
			t.Errorf("the provider's switch to %v: %v", off, err)
		}
		off = true
	}
	if now, err := api.AppClient(t.Context(), app.ID); err != nil || now.Branding.Welcome != "Hello" ||
		now.ETag == app.ETag {
		t.Errorf("%+v, %v", now, err)
	}
}
