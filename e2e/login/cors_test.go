package login

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// newPage serves an empty page and returns its origin.
func newPage(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><h1>Page</h1>`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestCORS has pages of two origins call a project that allows one of them, with and without
// preflights.
func TestCORS(t *testing.T) {
	t.Parallel()
	upstream, server := testkit.NewUpstream(t), harness.Start(t)
	made := harness.CreateProxy(t, server.Config.PublicURL, upstream.URL)
	api := harness.Connect(t, server.Config.PublicURL, made.WorkspaceKey.Reveal())
	project := made.Project.Environments[0].URL
	key := fmt.Sprintf(`{headers: {"X-API-Key": %q}}`, made.APIKeys["prod"].Key.Reveal())
	put := fmt.Sprintf(`{method: "PUT", headers: {"X-API-Key": %q}}`, made.APIKeys["prod"].Key.Reveal())
	const refused, plain, cookies = "kept from the page", `{}`, `{credentials: "include"}`
	app, other := newPage(t), newPage(t)
	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(app, other, project[:len(project)-len("/1.0.0/prod")]) // the browser reports each refused call
	type call struct {
		name, address, options, want string
		reaches                      int // calls that the upstream gets
	}
	calls := func(at, origin string, calls ...call) {
		t.Helper()
		p.Open(origin)
		p.Sees("Page")
		for _, c := range calls {
			before := len(upstream.Requests())
			if got := p.Fetches(c.address, c.options); got != c.want {
				t.Errorf("%s, %s: %s, want %s", at, c.name, got, c.want)
			}
			if n := len(upstream.Requests()) - before; n != c.reaches {
				t.Errorf("%s, %s: %d calls reached the upstream, want %d", at, c.name, n, c.reaches)
			}
		}
	}

	calls("without CORS", app,
		call{"no key", project + "/a", plain, refused, 0},
		call{"a key", project + "/a", key, refused, 0})

	if _, err := client.Do(t.Context(), api, contract.SetCORS, contract.CORSUpdate{
		ProjectPath: contract.ProjectPath{Project: made.Project.ID},
		Body:        contract.CORS{Origins: []string{app}, Methods: []string{"GET"}},
	}); err != nil {
		t.Fatal(err)
	}
	calls("the page that is allowed", app,
		call{"no key", project + "/b", plain, "401 credentials_required", 0},
		call{"a wrong key", project + "/b", `{headers: {"X-API-Key": "pst_wrong"}}`, "401 invalid_key", 0},
		call{"a key", project + "/b", key, "200 forwarded", 1},
		call{"a method that is not allowed", project + "/b", put, refused, 0},
		call{"no version", server.Config.Address("shop", "none", "prod"), plain, refused, 0},
		call{"cookies", project + "/b", cookies, refused, 0})
	calls("another page", other,
		call{"no key", project + "/c", plain, refused, 0},
		call{"a key", project + "/c", key, refused, 0})

	if _, err := client.Do(t.Context(), api, contract.SetCORS, contract.CORSUpdate{
		ProjectPath: contract.ProjectPath{Project: made.Project.ID},
		Body:        contract.CORS{Origins: []string{app, other}, Credentials: true},
	}); err != nil {
		t.Fatal(err)
	}
	for name, origin := range map[string]string{"the first page": app, "the second page": other} {
		calls(name, origin,
			call{"cookies", project + "/d", cookies, "401 credentials_required", 0},
			call{"a method that is allowed now", project + "/d", put, "200 forwarded", 1})
	}
}

// TestCORS_ofTenants has pages of two tenants call with keys of both: each page reads what its own
// tenant's callers get, and the refusal of an unknown caller.
func TestCORS_ofTenants(t *testing.T) {
	t.Parallel()
	upstream, server := testkit.NewUpstream(t), harness.Start(t)
	made := harness.CreateProxy(t, server.Config.PublicURL, upstream.URL)
	api := harness.Connect(t, server.Config.PublicURL, made.WorkspaceKey.Reveal())
	project := made.Project.Environments[0].URL
	pages, keys := map[string]string{}, map[string]string{}
	for _, tenant := range []string{"acme", "globex"} {
		pages[tenant] = newPage(t)
		if _, err := client.Do(t.Context(), api, contract.CreateTenant, contract.TenantCreation{
			Body: contract.NewTenant{Name: tenant},
		}); err != nil {
			t.Fatal(err)
		}
		attachment := contract.Attachment(made.Project.ID, tenant)
		if _, err := client.Do(t.Context(), api, contract.AttachTenant, attachment); err != nil {
			t.Fatal(err)
		}
		in := contract.NewKey{Owner: tenant + "-app", Tenant: tenant}
		key, err := client.Do(t.Context(), api, contract.CreateKey, in.In(made.Project.ID))
		if err != nil {
			t.Fatal(err)
		}
		keys[tenant] = key.Secret.Reveal()
		cors := contract.CORS{Origins: []string{pages[tenant]}, Methods: []string{"GET", "DELETE"}}
		if _, err := client.Do(t.Context(), api, contract.SetTenantCORS, contract.TenantCORSUpdate{
			TenantPath: contract.TenantPath{Tenant: tenant}, Body: cors,
		}); err != nil {
			t.Fatal(err)
		}
	}
	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(pages["acme"], pages["globex"], project[:len(project)-len("/1.0.0/prod")])
	const refused = "kept from the page"
	for tenant, other := range map[string]string{"acme": "globex", "globex": "acme"} {
		p.Open(pages[tenant])
		p.Sees("Page")
		for _, c := range []struct {
			name, method, key, want string
		}{
			{"its key", "GET", keys[tenant], "200 forwarded"},
			{"its key, with a method that needs a preflight", "DELETE", keys[tenant], "200 forwarded"},
			{"its key, with a method that is not allowed", "PUT", keys[tenant], refused},
			{"the key of " + other, "GET", keys[other], refused},
			{"the project's key", "GET", made.APIKeys["prod"].Key.Reveal(), refused},
			{"a wrong key", "GET", "pst_wrong", "401 invalid_key"},
		} {
			options := fmt.Sprintf(`{method: %q, headers: {"X-API-Key": %q}}`, c.method, c.key)
			if got := p.Fetches(project+"/a", options); got != c.want {
				t.Errorf("the page of %s, %s: %s, want %s", tenant, c.name, got, c.want)
			}
		}
	}

	_, err := client.Do(t.Context(), api, contract.RemoveTenantCORS, contract.TenantCORSRemoval{
		TenantPath: contract.TenantPath{Tenant: "globex"},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Open(pages["globex"])
	p.Sees("Page")
	options := fmt.Sprintf(`{headers: {"X-API-Key": %q}}`, keys["globex"])
	if got := p.Fetches(project+"/b", options); got != refused {
		t.Errorf("the page of globex after its settings are removed: %s", got)
	}
}

// TestSPA_crossOriginCalls has a signed-in application call the gateway at its own origin,
// as soon as the project allows the origins of its app clients.
func TestSPA_crossOriginCalls(t *testing.T) {
	t.Parallel()
	upstream, app := testkit.NewUpstream(t), newSPA(t)
	var project string
	p, made := signedInSPA(t, app, upstream, func(made contract.Proxy) []string {
		project = made.Project.Environments[0].URL
		return []string{app.origin, project} // the browser reports refused calls
	})
	const token = `{headers: {Authorization: "Bearer " +
			JSON.parse(sessionStorage.getItem(
				Object.keys(sessionStorage).find((k) => k.startsWith("oidc.user:")))).access_token}}`
	if got := p.Fetches(project+"/orders", token); got != "kept from the page" {
		t.Errorf("without CORS: %s", got)
	}
	api := harness.Connect(t, app.settings.Issuer[:len(app.settings.Issuer)-len("/oauth/"+app.settings.ClientID)],
		made.WorkspaceKey.Reveal())
	saved, err := client.Do(t.Context(), api, contract.SetCORS, contract.CORSUpdate{
		ProjectPath: contract.ProjectPath{Project: made.Project.ID}, Body: contract.CORS{AppOrigins: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(saved.FromApps) != 1 || saved.FromApps[0] != app.origin {
		t.Errorf("origins of the apps: %q, want %s", saved.FromApps, app.origin)
	}
	if got := p.Fetches(project+"/orders", token); got != "200 forwarded" {
		t.Errorf("the first call across origins: %s", got)
	}
	if got := p.Fetches(project+"/orders",
		`{headers: {Authorization: "Bearer x.y.z"}}`); got != "401 invalid_token" {
		t.Errorf("a wrong token: %s", got)
	}
}
