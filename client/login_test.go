package client_test

import (
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

// newLogin creates an app client and one provider of it, and returns the responses.
func newLogin(t *testing.T, api *client.Client) (contract.SavedAppClient, contract.Provider) {
	t.Helper()
	acme, err := client.Do(t.Context(), api, contract.CreateTenant, contract.TenantCreation{
		Body: contract.NewTenant{Name: "acme"},
	})
	if err != nil {
		t.Fatal(err)
	}
	title, color, confidential := "Acme", "#0a7d55", true
	app, err := client.Do(t.Context(), api, contract.CreateAppClient, contract.NewAppClient{
		Name: "web",
		AppClientSettings: contract.AppClientSettings{
			Confidential: &confidential,
			RedirectURIs: &[]string{"https://app.example.com/cb"},
			Branding:     contract.BrandingChange{Title: &title, Color: &color},
		},
	}.In(acme.ID))
	if err != nil || app.ClientSecret == "" {
		t.Fatalf("%+v, %v", app, err)
	}
	id, secret := "app", contract.Secret("secret")
	in := contract.NewProvider{
		Type:             "auth0",
		Domain:           "8.8.8.8",
		ProviderSettings: contract.ProviderSettings{ClientID: &id, ClientSecret: &secret},
	}
	provider, err := client.Do(t.Context(), api, contract.CreateProvider, in.In(app.ID))
	if err != nil || !provider.HasClientSecret {
		t.Fatalf("%+v, %v", provider, err)
	}
	return app, provider
}

func TestContract_everyFieldOfLogin(t *testing.T) {
	server := start(t)
	api, proxy := workspace(t, server)
	app, _ := newLogin(t, api)
	same[contract.AppClient](t, server+"/api/v1/app-clients/"+app.ID, proxy.WorkspaceKey.Reveal())
	same[listOf[contract.AppClient]](
		t,
		server+"/api/v1/tenants/"+app.Tenant+"/app-clients",
		proxy.WorkspaceKey.Reveal(),
	)
	same[listOf[contract.Provider]](t, server+"/api/v1/app-clients/"+app.ID+"/providers", proxy.WorkspaceKey.Reveal())
}

func TestIfMatch_login(t *testing.T) {
	api, _ := workspace(t, start(t))
	app, provider := newLogin(t, api)
	welcome := func(text string) error {
		change := contract.AppClientSettings{Branding: contract.BrandingChange{Welcome: &text}}.Of(app.ID)
		change.IfMatch = app.ETag
		_, err := client.Do(t.Context(), api, contract.UpdateAppClient, change)
		return err
	}
	if err := welcome("Hello"); err != nil {
		t.Errorf("change of the app client with its ETag: %v", err)
	}
	if err := welcome("Goodbye"); fault.KindOf(err) != fault.Stale {
		t.Errorf("change of the app client with an old ETag: %v, want a stale one", err)
	}
	enable := func(on bool) error {
		change := contract.ProviderSettings{Enabled: &on}.Of(provider.ID)
		change.IfMatch = provider.ETag
		_, err := client.Do(t.Context(), api, contract.UpdateProvider, change)
		return err
	}
	if err := enable(false); err != nil {
		t.Errorf("change of the provider with its ETag: %v", err)
	}
	if err := enable(true); fault.KindOf(err) != fault.Stale {
		t.Errorf("change of the provider with an old ETag: %v, want a stale one", err)
	}
	now, err := client.Do(t.Context(), api, contract.GetAppClient, app.Path())
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
