package introspection_test

import (
	"errors"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/login/providers"
	"postern/service/projects"
	"postern/testkit/state"
)

// A login may limit what the upstream gets of a token only if the versions verify tokens:
// otherwise the upstream would get the whole token.
func TestTokenType_versionsWithoutTokens(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := addLoginProject(t, newWorld(t, db), "shop", contract.NewProvider{
			Type:             providers.Google,
			ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
		})
		project, err := h.projects.Get(t.Context(), h.owner, "shop")
		if err != nil {
			t.Fatal(err)
		}
		access := func(mode string, methods ...string) error {
			change := contract.RequestsAuthChange{Mode: &mode, Methods: &methods}
			_, err := h.projects.UpdateVersion(t.Context(), h.owner, contract.VersionChange{RequestsAuth: change}.Of(
				"shop", project.Versions[0].ID,
			))
			return err
		}
		gives := func(client, upstream string) error {
			in := contract.ProviderSettings{TokenType: contract.NewTokenType{Client: client, Upstream: upstream}}
			_, err := h.appClients.UpdateProvider(t.Context(), h.owner, in.Of(h.providers[providers.Google]))
			return err
		}
		taken := func(when string, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		refused := func(when string, err error, pointer string) {
			t.Helper()
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || len(f.Fields) != 1 || f.Fields[0].Pointer != pointer || f.Fields[0].Code != "method_missing" {
				t.Errorf("%s: %v, want method_missing at %s", when, err, pointer)
			}
		}
		taken("no methods while the upstream gets what the client sends", access("passthrough"))
		refused("then none", gives(contract.ServiceToken, contract.NoToken), "/token_type/upstream")
		refused("then the provider's", gives(contract.ServiceToken, contract.ProviderAccessToken),
			"/token_type/upstream")
		taken("then the provider's for both", gives(contract.ProviderToken, contract.ProviderAccessToken))
		more := contract.NewProvider{
			Type: providers.Google,
			ProviderSettings: contract.ProviderSettings{
				ClientID:  new("other"),
				TokenType: contract.NewTokenType{Client: contract.ServiceToken, Upstream: contract.NoToken},
			},
		}
		_, err = h.appClients.CreateProvider(t.Context(), h.owner, more.In(h.client))
		refused("then another provider with none", err, "/token_type/upstream")

		taken("tokens are looked at", access("passthrough", "jwt"))
		taken("none", gives(contract.ServiceToken, contract.NoToken))
		refused("passthrough after that", access("passthrough"), "/requests_auth/methods")
		refused("keys alone after that", access("authenticate", "api_key"), "/requests_auth/methods")
		taken("keys and tokens", access("authenticate", "api_key", "jwt"))

		off := false
		change := contract.ProviderSettings{Enabled: &off}
		_, err = h.appClients.UpdateProvider(t.Context(), h.owner, change.Of(h.providers[providers.Google]))
		taken("the provider is off", err)
		taken("which no one signs in with", access("passthrough"))
		on := true
		change.Enabled = &on
		_, err = h.appClients.UpdateProvider(t.Context(), h.owner, change.Of(h.providers[providers.Google]))
		refused("and on again", err, "/token_type/upstream")
	})
}

// A tenant brings its providers to the projects that come to serve it.
func TestTenant_versionsWithoutTokens(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		_, owner := w.create(t, projects.CreateInput{Name: "shop"})
		shared, err := w.projects.CreateTenant(t.Context(), owner, contract.TenantCreation{
			Body: contract.NewTenant{Name: "acme"},
		})
		if err != nil {
			t.Fatal(err)
		}
		client, err := w.appClients.CreateClient(t.Context(), owner, contract.NewAppClient{Name: "web"}.In(shared.ID))
		if err != nil {
			t.Fatal(err)
		}
		in := contract.NewProvider{
			Type: providers.Google,
			ProviderSettings: contract.ProviderSettings{
				ClientID:  new("app"),
				TokenType: contract.NewTokenType{Client: contract.ServiceToken, Upstream: contract.NoToken},
			},
		}
		if _, err := w.appClients.CreateProvider(t.Context(), owner, in.In(client.ID)); err != nil {
			t.Fatalf("in a tenant that nothing serves: %v", err)
		}
		_, err = w.projects.Attach(t.Context(), owner, contract.Attachment("shop", shared.ID))
		if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Fields) != 1 ||
			f.Fields[0].Code != "method_missing" {
			t.Errorf("served by a project that does not verify tokens: %v", err)
		}
	})
}
