package pages_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/state"
	"postern/views/ui"
)

const scopesPage = "/projects/shop/api-scopes"

func TestAPIScopes_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	s.Get(tab).Says("#api", "No API scopes yet").Says("#api a[href='"+scopesPage+"']", "Open")
	s.Get(scopesPage).Shows(200, "API scopes").Says("main", "No API scopes yet")
	s.Post(scopesPage, "name", "openid", "description", "see\nall").
		Shows(422, "API scopes").
		Holds("name", "openid").
		Says("#scope-name-error", "OpenID Connect").
		Says("#scope-description-error", "on one line")
	s.Post(scopesPage, "name", " orders:read ", "description", "see your <b>orders</b>").LeadsTo(scopesPage)
	s.Post(scopesPage, "name", "orders:*").LeadsTo(scopesPage)
	s.Post(scopesPage, "name", "orders:read").Shows(422, "API scopes").Says("#scope-name-error", "twice")
	s.Get(scopesPage).
		Says("tbody", "see your <b>orders</b>").
		Says("tbody a[href='"+scopesPage+"/orders:%2A']", "orders:*")
	s.Get(scopesPage+"/orders:%2A").Shows(200, "API scope orders:*")
	s.Get(tab).Says("#api", "2 API scopes")
	one := scopesPage + "/orders:read"
	old := s.Get(one).Find("[name=revision]").AttrOr("value", "")
	s.Post(one, "revision", old, "description", "see orders").LeadsTo(scopesPage)
	s.Get(scopesPage).Says("[data-flash]", "Saved the description of orders:read").Says("tbody", "see orders")
	s.Post(one, "revision", old, "description", "see no orders").
		Shows(412, "Changed since you opened this page").
		Says("main", "see orders").
		Says("main", "see no orders").
		Holds("description", "see no orders")
	s.Post(one+"/remove").Shows(422, "API scope orders:read").Says("main", "Check the box")
	s.Post(one+"/remove", "confirm", "true").LeadsTo(scopesPage)
	s.Get(one).Shows(404, "Page not found")
	s.Post(one, "description", "x").Shows(404, "Page not found")
	s.Post(one+"/remove", "confirm", "true").Shows(404, "Page not found")
	s.Get("/audit").
		Says("main", "added the API scope orders:*").
		Says("main", "changed the description of the API scope orders:read").
		Says("main", "removed the API scope orders:read")
}

// A form that is sent twice, by a double click or from two tabs, adds one scope.
func TestAPIScopes_formSentTwice(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := newLoginTab(t, db)
	form := []string{"name", "orders:read", ui.NonceField, s.Get(scopesPage).Nonce(scopesPage)}
	s.Post(scopesPage, form...).LeadsTo(scopesPage)
	s.Post(scopesPage, form...).LeadsTo(scopesPage)
	if n := s.Get(scopesPage).Find("tbody tr").Length(); n != 1 {
		t.Errorf("%d scopes, want 1", n)
	}
}

func TestAPIScopes_audience(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	const action = "/projects/shop/api-audience"
	old := s.Get(scopesPage).Find("#audience [name=revision]").AttrOr("value", "")
	s.Post(action, "revision", old, "audience", "api").
		Shows(422, "API scopes").
		Says("#api-audience-error", "Use a URI").
		Holds("audience", "api")
	s.Post(scopesPage, "name", "orders:read").LeadsTo(scopesPage) // does not make the form of the audience stale
	s.Post(action, "revision", old, "audience", "https://api.example.com").LeadsTo(scopesPage)
	s.Get(scopesPage).
		Says("[data-flash]", "Saved the audience “https://api.example.com”").
		Holds("audience", "https://api.example.com")
	s.Get(tab).Says("#api", "https://api.example.com")
	s.Post(action, "revision", old, "audience", "https://b.example.com").
		Shows(412, "Changed since you opened this page").
		Says("main", "https://api.example.com")
	s.Post(action, "audience", "").LeadsTo(scopesPage)
	s.Get(tab).Lacks("#api .font-mono")
}

// Before a scope is removed, its page says which app clients may request it.
func TestAPIScopes_removalImpact(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	s.Post(scopesPage, "name", "orders:read").LeadsTo(scopesPage)
	s.Get(scopesPage+"/orders:read").Says("main", "No app clients can request this scope")
	path := s.CreateAppClient(tab)
	s.Post(path+"/access", "grant_types", "authorization_code", "api_scopes", "orders:*").LeadsTo(path)
	s.Get(scopesPage+"/orders:read").
		Says("main", "1 app client can request this scope").
		Says("main a[href='"+path+"']", "web (default)")
}

func TestAppClient_apiAccess(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	path := s.CreateAppClient(tab)
	s.Get(path).Says("#access a[href='"+scopesPage+"']", "Add API scopes")
	s.Post(scopesPage, "name", "orders:read", "description", "see your orders").LeadsTo(scopesPage)
	page := s.Get(path).Says("#access dl", "see your orders")
	if n := page.Find("#access [name=grant_types][checked]").Length(); n != 2 {
		t.Errorf("%d ways are chosen, want users and staying signed in", n)
	}
	old := page.Find("#access [name=revision]").AttrOr("value", "")
	s.Post(path+"/access", "grant_types", "client_credentials", "api_scopes", "orders:own orders:read").
		Shows(422, "web").
		Says("#client-grants-error", "requires a client secret").
		Says("#client-api-scopes-error", "orders:own: This scope").
		Says("#client-api-scopes", "orders:own orders:read").
		Says("#access dl", "see your orders")
	s.Post(path+"/access", "api_scopes", "").Shows(422, "web").Says("#client-grants-error", "at least one")
	form := []string{"revision", old, "grant_types", "authorization_code", "api_scopes", "orders:read\n"}
	s.Post(path+"/access", form...).LeadsTo(path)
	s.Get(path).Says("#client-api-scopes", "orders:read")
	s.Post(path+"/access", form...).
		Shows(412, "Changed since you opened this page").
		Says("main", "Grant types").
		Says("main", "Users sign in")
}

// A machine: an app client with a secret that gets tokens for itself, set up in the pages.
func TestAppClient_machine(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	path := s.CreateAppClient(tab)
	secret := path + "/secret"
	s.Post(secret, "kind", "confidential", ui.NonceField, s.Get(path).Nonce(secret)).LeadsTo(secret)
	s.Post(path+"/access", "grant_types", "client_credentials").LeadsTo(path)
	s.Post(secret, "kind", "public", "confirm", "true", ui.NonceField, s.Get(path).Nonce(secret)).
		Shows(422, "web").
		Says("#secret", "requires a client secret")
}

func TestAppClient_freeze(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tab := newLoginTab(t, db)
		path := s.CreateAppClient(tab)
		id := path[strings.LastIndex(path, "/")+1:]
		s.Get(path).Lacks("form[action$='/unfreeze']")
		s.Post(path + "/freeze").LeadsTo(path)
		s.Post(path + "/freeze").LeadsTo(path)
		s.Get(path).
			Says("#test-problem", "frozen").
			Says("form[action$='/unfreeze'] button", "Unfreeze").
			Lacks("form[action$='/freeze']")
		s.Get(tab).Says("tbody", "frozen")
		if !isFrozen(t, db, id) {
			t.Error("the app client is not frozen")
		}
		s.Post(path + "/unfreeze").LeadsTo(path)
		if isFrozen(t, db, id) {
			t.Error("the app client is still frozen")
		}
		s.Get(tab).Lacks("tbody .tone-cold")
	})
}

func TestAppClient_signingKeyRotation(t *testing.T) {
	t.Parallel()
	s, tab := newLoginTab(t, state.OpenSQLite(t))
	path := s.CreateAppClient(tab)
	rotate := path + "/signing-keys"
	s.Get(path).Says("form[action='"+rotate+"'] button", "Rotate now").Lacks("#signing-keys tbody")
	s.Post(rotate).LeadsTo(path)
	s.Get(path).Says("#signing-keys tbody", "replaced by a new key")
	s.Post(rotate).LeadsTo(path)
	s.Get(path).Says("#signing-keys tbody tr:nth-child(2)", "replaced by a new key").
		Lacks("#signing-keys tbody tr:nth-child(3)")
	s.Post(rotate).Shows(409, "web").Says("#signing-keys", "Rotate again after that.")
}

func isFrozen(t *testing.T, db *models.DB, client string) bool {
	t.Helper()
	row, err := db.Read(t.Context()).AppClientByID(client)
	if err != nil {
		t.Fatal(err)
	}
	return row.FrozenAt != nil
}
