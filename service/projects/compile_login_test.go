package projects_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/directory"
	"postern/service/login"
	"postern/service/login/providers"
	"postern/testkit/state"
)

// loginProject is a project with an app client in its own tenant.
type loginProject struct {
	*world
	appClients *appclients.Service
	login      *login.Service
	people     *directory.Service
	owner      access.Principal
	project    string
	tenant     string
	client     string
}

func newLoginProject(t *testing.T, db *models.DB) *loginProject {
	t.Helper()
	w := newWorld(t, db)
	created, owner := w.create(t, authenticated)
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	h := &loginProject{world: w, owner: owner, project: created.Project.ID,
		appClients: &appclients.Service{
			DB:        db,
			Vault:     vault,
			Targets:   anyTarget{},
			PublicURL: "https://postern.example",
			Changed:   w.feed.Changed,
			Log:       testLogger(t),
		},
		people: &directory.Service{DB: db, Changed: w.feed.Changed}}
	h.login = login.New(h.appClients)
	tenants, err := db.Read(t.Context()).TenantsOf(h.project)
	if err != nil {
		t.Fatal(err)
	}
	h.tenant = tenants[0].ID
	algorithm := contract.ES256
	client, err := h.appClients.CreateClient(t.Context(), owner, contract.NewAppClient{
		Name: "web", AppClientSettings: contract.AppClientSettings{Algorithm: &algorithm},
	}.In(h.tenant))
	if err != nil {
		t.Fatal(err)
	}
	h.client = client.ID
	return h
}

// clients and barred are the gateway's state.
func (h *loginProject) clients(t *testing.T) []snapshot.AppClient {
	t.Helper()
	return h.one(t).Clients
}

func (h *loginProject) barred(t *testing.T) []snapshot.BarredUser {
	t.Helper()
	return h.one(t).Barred
}

func (h *loginProject) version(t *testing.T) string {
	t.Helper()
	return h.one(t).Versions[0].ID
}

func (h *loginProject) one(t *testing.T) *snapshot.Project {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.served {
		if p.ID == h.project {
			return p
		}
	}
	t.Fatalf("%s is not served", h.project)
	return nil
}

func TestAppClients_served(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		looksAtTokens := contract.RequestsAuthChange{
			Methods: &[]string{"jwt"},
		} // or none could be kept from the upstream
		change := contract.VersionChange{RequestsAuth: looksAtTokens}.Of(h.project, h.version(t))
		if _, err := h.UpdateVersion(t.Context(), h.owner, change); err != nil {
			t.Fatal(err)
		}
		app, upstream := "app-1", contract.NewTokenType{Client: contract.ServiceToken, Upstream: contract.NoToken}
		provider, err := h.appClients.CreateProvider(t.Context(), h.owner, contract.NewProvider{
			Type:   providers.OIDC,
			Issuer: "https://accounts.example",
			ProviderSettings: contract.ProviderSettings{
				ClientID: &app, ClientSecret: new(contract.Secret("never in a snapshot")), TokenType: upstream,
			},
		}.In(h.client))
		if err != nil {
			t.Fatal(err)
		}
		want := []snapshot.AppClient{{
			ID:       h.client,
			Name:     "web",
			Issuer:   "https://postern.example/oauth/" + h.client,
			TenantID: h.tenant,
			Providers: []snapshot.Provider{{
				ID:            provider.ID,
				Type:          "oidc",
				ClientID:      "app-1",
				Issuer:        "https://accounts.example",
				Enabled:       true,
				ClientToken:   snapshot.ServiceToken,
				UpstreamToken: snapshot.NoToken,
			}},
		}}
		if diff := cmp.Diff(want, h.clients(t)); diff != "" {
			t.Errorf("with a provider: %s", diff)
		}
		if _, err := h.login.JWKS(t.Context(), h.client); err != nil { // which creates the first key
			t.Fatal(err)
		}
		keys := h.clients(t)[0].Keys
		if len(keys) != 1 || keys[0].Algorithm != "ES256" || !strings.Contains(keys[0].JWK, keys[0].ID) ||
			strings.Contains(keys[0].JWK, `"d"`) {
			t.Fatalf("the first key: %+v", keys)
		}
		id := keys[0].ID
		age := "UPDATE signing_keys SET created_at = $1, active_at = $1"
		if _, err := db.SQL().ExecContext(t.Context(), age, models.Now().Add(-91*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := h.login.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if keys = h.clients(t)[0].Keys; len(keys) != 2 || keys[0].ID != id || keys[0].ExpiresAt.IsZero() ||
			!keys[1].ExpiresAt.IsZero() {
			t.Errorf("the next key is not known before it signs: %+v", keys)
		}
		if _, err := h.appClients.DeleteProvider(t.Context(), h.owner, provider.Path()); err != nil ||
			len(h.clients(t)[0].Providers) != 0 {
			t.Errorf("the provider is still known: %+v, %v", h.clients(t), err)
		}
		_, err = h.appClients.DeleteClient(t.Context(), h.owner, contract.AppClientPath{Client: h.client})
		if err != nil || len(h.clients(t)) != 0 {
			t.Errorf("the app client is still known: %+v, %v", h.clients(t), err)
		}
	})
}

func TestAppClients_tenant(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		tenant, err := h.CreateTenant(t.Context(), h.owner, newTenant("acme"))
		if err != nil {
			t.Fatal(err)
		}
		name := "acme-web"
		made, err := h.appClients.CreateClient(t.Context(), h.owner, contract.NewAppClient{Name: name}.In(tenant.ID))
		if err != nil || len(h.clients(t)) != 1 {
			t.Fatalf("before it is attached: %+v, %v", h.clients(t), err)
		}
		if _, err := h.Attach(t.Context(), h.owner, contract.Attachment(h.project, tenant.ID)); err != nil {
			t.Fatal(err)
		}
		if got := h.clients(t); len(got) != 2 || got[1].ID != made.ID || got[1].TenantID != tenant.ID {
			t.Errorf("attached: %+v", got)
		}
		if _, err := h.Detach(t.Context(), h.owner, contract.Attachment(h.project, tenant.ID)); err != nil ||
			len(h.clients(t)) != 1 {
			t.Errorf("detached: %+v, %v", h.clients(t), err)
		}
	})
}

func TestAppClients_barredUser(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		add := func(email string) string {
			user, err := h.people.CreateUser(t.Context(), h.owner, contract.NewUser{Email: email}.In(h.tenant))
			if err != nil {
				t.Fatal(err)
			}
			return user.ID
		}
		ana, ben := add("ana@example.com"), add("ben@example.com")
		check := func(when string, want ...snapshot.BarredUser) {
			t.Helper()
			if diff := cmp.Diff(want, h.barred(t)); diff != "" {
				t.Errorf("%s: %s", when, diff)
			}
		}
		check("at first")
		if _, err := h.people.Freeze(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		check("frozen", snapshot.BarredUser{ID: ana})
		if _, err := h.people.DeleteUser(t.Context(), h.owner, contract.UserPath{User: ben}); err != nil {
			t.Fatal(err)
		}
		check("and one deleted", snapshot.BarredUser{ID: ana}, snapshot.BarredUser{ID: ben, Deleted: true})
		if _, err := h.people.Unfreeze(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		check("unfrozen", snapshot.BarredUser{ID: ben, Deleted: true})

		if _, err := h.people.Freeze(t.Context(), h.owner, contract.UserPath{User: ana}); err != nil {
			t.Fatal(err)
		}
		long := models.Now().Add(-snapshot.BarredFor - time.Minute)
		for _, statement := range []string{
			"UPDATE end_users SET updated_at = $1",
			"UPDATE deleted_users SET ends_at = $1",
		} {
			if _, err := db.SQL().ExecContext(t.Context(), statement, long); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.login.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		settings := contract.ProjectChange{DisplayName: new("Compiled again")}
		if _, err := h.Update(t.Context(), h.owner, settings.Of(h.project)); err != nil {
			t.Fatal(err)
		}
		check("when no token of theirs can be about any more")
		var left int
		if err := db.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM deleted_users").Scan(&left); err != nil ||
			left != 0 {
			t.Errorf("%d deleted users are kept: %v", left, err)
		}
	})
}

// A version takes a login's tokens without naming an issuer, where there is a login.
func TestAppClients_methods(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		version := func() string { return h.one(t).Versions[0].ID }
		change := func(in contract.RequestsAuthChange) string {
			t.Helper()
			_, err := h.UpdateVersion(t.Context(), h.owner, contract.VersionChange{RequestsAuth: in}.Of(
				h.project, version(),
			))
			if err == nil {
				return ""
			}
			refusal, ok := errors.AsType[*fault.Error](err)
			if !ok || len(refusal.Fields) == 0 {
				t.Fatal(err)
			}
			return refusal.Fields[0].Pointer + " " + refusal.Fields[0].Code
		}
		serves := func(when string, want ...string) {
			t.Helper()
			if got := h.one(t).Versions[0].Access.Methods; !slices.Equal(got, want) {
				t.Errorf("%s: the methods are %v, want %v", when, got, want)
			}
		}
		if wrong := change(contract.RequestsAuthChange{Mode: new("passthrough"), Methods: &[]string{}}); wrong != "" {
			t.Fatal(wrong)
		}
		if wrong := change(contract.RequestsAuthChange{Mode: new("authenticate")}); wrong != "" {
			t.Error(wrong)
		}
		serves("with a login, nothing named", snapshot.APIKey, snapshot.JWT)
		if wrong := change(contract.RequestsAuthChange{Methods: &[]string{"jwt"}}); wrong != "" {
			t.Error(wrong)
		}
		serves("tokens alone", snapshot.JWT)
		own := []snapshot.TokenIssuer{{Issuer: "https://postern.example/oauth/" + h.client, Audience: h.client}}
		wrong := change(contract.RequestsAuthChange{JWT: &contract.JWT{AllowedPairs: own}})
		if wrong != "/requests_auth/jwt/allowed_pairs/0/iss own_issuer" {
			t.Errorf("an issuer of ours in a pair: %q", wrong)
		}
		client := contract.AppClientPath{Client: h.client}
		if _, err := h.appClients.DeleteClient(t.Context(), h.owner, client); err != nil {
			t.Fatal(err)
		}
		serves("without the login, no call gets in", snapshot.JWT)
		wrong = change(contract.RequestsAuthChange{Methods: &[]string{"api_key", "jwt"}})
		if wrong != "/requests_auth/jwt/allowed_pairs required" {
			t.Errorf("jwt without a login and without a pair: %q", wrong)
		}
	})
}
