package client_test

import (
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

// newLogin creates an app client and one provider of it, and returns the responses.
func newLogin(t *testing.T, api *client.Client) (client.AppClient, client.Provider) {
	t.Helper()
	acme, err := client.Do(t.Context(), api, contract.CreateTenant, contract.TenantCreation{
		Body: contract.NewTenant{Name: "acme"},
	})
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

func TestIfMatchRefusesStaleChangeOfLogin(t *testing.T) {
	api, _ := workspace(t, start(t))
	app, provider := newLogin(t, api)
	welcome := func(text string) error {
		change := client.AppClientChange{Branding: &client.BrandingChange{Welcome: &text}}
		_, err := api.IfMatch(app.ETag).UpdateAppClient(t.Context(), app.ID, change)
		return err
	}
	if err := welcome("Hello"); err != nil {
		t.Errorf("change of the app client with its ETag: %v", err)
	}
	if err := welcome("Goodbye"); fault.KindOf(err) != fault.Stale {
		t.Errorf("change of the app client with an old ETag: %v, want a stale one", err)
	}
	enable := func(on bool) error {
		change := client.ProviderChange{Enabled: &on}
		_, err := api.IfMatch(provider.ETag).UpdateProvider(t.Context(), provider.ID, change)
		return err
	}
	if err := enable(false); err != nil {
		t.Errorf("change of the provider with its ETag: %v", err)
	}
	if err := enable(true); fault.KindOf(err) != fault.Stale {
		t.Errorf("change of the provider with an old ETag: %v, want a stale one", err)
	}
	now, err := api.AppClient(t.Context(), app.ID)
	if err != nil {
		t.Fatal(err)
	}
	if now.Branding.Welcome != "Hello" {
		t.Errorf("welcome = %q, want that of the first change", now.Branding.Welcome)
	}
	if now.ETag == app.ETag {
		t.Error("the change left the ETag as it was")
	}
}
