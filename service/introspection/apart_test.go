package introspection_test

import (
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/login/providers"
	"postern/testkit/idp"
	"postern/testkit/state"
)

func TestCreateProvider_indistinguishableTokens(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, in := newWorld(t, db), kinds["github"].in
		fake := kinds["github"].start(t, w.appClients.Providers, &in)
		h := addLoginProject(t, w, "shop", in, contract.NewProvider{
			Type:             providers.Google,
			ProviderSettings: contract.ProviderSettings{ClientID: new("other")},
		})
		asked := func() int { return fake.Requests(kinds["github"].path) }
		refused := func(when string, err error) {
			t.Helper()
			if err == nil ||
				!strings.Contains(err.Error(), "token_type_ambiguous") &&
					!strings.Contains(err.Error(), "can't tell these tokens apart") {
				t.Errorf("%s: %v", when, err)
			}
		}
		other := offer(providers.GitHub, contract.ProviderAccessToken)
		other.ClientID = new("another-app")
		_, err := h.appClients.CreateProvider(t.Context(), h.owner, other.In(h.client))
		refused("another app at GitHub", err)
		same := offer(providers.GitHub, contract.ProviderAccessToken)
		_, err = h.appClients.CreateProvider(t.Context(), h.owner, same.In(h.client))
		if err != nil {
			t.Errorf("the same app once more: %v", err)
		}
		other.TokenType = contract.NewTokenType{}
		made, err := h.appClients.CreateProvider(t.Context(), h.owner, other.In(h.client))
		if err != nil {
			t.Fatalf("with tokens of ours: %v", err)
		}
		change := contract.ProviderSettings{TokenType: contract.NewTokenType{Client: contract.ProviderToken}}
		_, err = h.appClients.UpdateProvider(t.Context(), h.owner, change.Of(made.ID))
		refused("changed afterward", err)

		h.call(t, "shop", "gho_x").wants(t, "the same app twice", 401, "invalid_token")
		if n := asked(); n != 1 {
			t.Errorf("it was asked %d times, want once", n)
		}
		// A gateway that still comes to know two shows the token to neither.
		if _, err := db.SQL().ExecContext(t.Context(), "UPDATE providers SET client_token = 'provider', "+
			"upstream_token = 'provider_access_token' WHERE id = $1", made.ID); err != nil {
			t.Fatal(err)
		}
		h.reload(t)
		h.call(t, "shop", "gho_x").wants(t, "of two apps", 401, "invalid_token")
		if n := asked(); n != 1 {
			t.Errorf("the provider was asked %d times, want once", n)
		}
		if _, err := h.appClients.DeleteProvider(t.Context(), h.owner, made.Path()); err != nil {
			t.Fatal(err)
		}

		shared, err := h.projects.CreateTenant(t.Context(), h.owner, contract.TenantCreation{
			Body: contract.NewTenant{Name: "acme"},
		})
		if err != nil {
			t.Fatal(err)
		}
		name := "acme-web"
		client, err := h.appClients.CreateClient(t.Context(), h.owner, contract.NewAppClient{Name: name}.In(shared.ID))
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.appClients.CreateProvider(t.Context(), h.owner, same.In(client.ID))
		if err != nil {
			t.Fatalf("in a tenant that nothing serves: %v", err)
		}
		_, err = h.projects.Attach(t.Context(), h.owner, contract.Attachment("shop", shared.ID))
		refused("attached with a tenant", err)
	})
}

// reload changes the project, so that its gateway loads a new snapshot.
func (h *loginProject) reload(t *testing.T) {
	t.Helper()
	change := contract.ProjectChange{DisplayName: new("Reloaded")}
	if _, err := h.projects.Update(t.Context(), h.owner, change.Of("shop")); err != nil {
		t.Fatal(err)
	}
}

// A version's introspection endpoint and a provider with opaque tokens of any form exclude
// each other, whichever is configured first.
func TestUpdateAccess_opaqueTokensOfTwoIssuers(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		e, fake := newEndpoint(t), idp.StartFake(t)
		in := offer(providers.OIDC, contract.ProviderAccessToken)
		in.Issuer = fake.URL
		h := newLoginProject(t, db, in)
		project, err := h.projects.Get(t.Context(), h.owner, "shop")
		if err != nil {
			t.Fatal(err)
		}
		methods := []string{"jwt", "opaque"}
		change := contract.VersionChange{RequestsAuth: contract.RequestsAuthChange{
			Methods: &methods, Opaque: &contract.NewIntrospection{
				Introspection: contract.Introspection{Endpoint: e.URL},
			},
		}}.Of("shop", project.Versions[0].ID)
		_, err = h.projects.UpdateVersion(t.Context(), h.owner, change)
		if err == nil || !strings.Contains(err.Error(), "token_type_ambiguous") {
			t.Errorf("an endpoint next to the provider: %v", err)
		}
		ids := contract.NewTokenType{Client: contract.ProviderToken, Upstream: contract.ProviderIDToken}
		h.update(t, "oidc", contract.ProviderSettings{TokenType: ids})
		_, err = h.projects.UpdateVersion(t.Context(), h.owner, change)
		if err != nil {
			t.Errorf("next to ID tokens: %v", err)
		}
		access := contract.ProviderSettings{TokenType: in.TokenType}
		_, err = h.appClients.UpdateProvider(t.Context(), h.owner, access.Of(h.providers["oidc"]))
		if err == nil || !strings.Contains(err.Error(), "token_type_ambiguous") {
			t.Errorf("the provider next to an endpoint: %v", err)
		}
		if _, err := db.SQL().ExecContext(t.Context(), "UPDATE providers SET upstream_token = "+
			"'provider_access_token'"); err != nil {
			t.Fatal(err)
		}
		h.reload(t)
		h.call(t, "shop", "opaque").wants(t, "where it came to that", 401, "invalid_token")
		if n := e.asked.Load() + int64(fake.Requests("/introspect")); n != 0 {
			t.Errorf("the token was shown %d times", n)
		}
	})
}
