package login

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/idp"
)

// gated is a project whose calls need a credential, with a login.
func gated(
	t *testing.T, address string, upstream *testkit.Upstream, issuer *idp.Certified, app *application,
) (contract.Proxy, *client.Client) {
	t.Helper()
	made, err := client.Do(t.Context(), harness.Connect(t, address, ""), contract.CreateProxy, contract.NewProxy{
		Target:       upstream.URL,
		Name:         "shop",
		RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
		Login: &contract.NewLogin{RedirectURIs: []string{app.callback}, Providers: []contract.NewProvider{
			{Type: "oidc", Issuer: issuer.Issuer, ProviderSettings: contract.ProviderSettings{
				ClientID: new("later"),
			}}}},
	}.Request())
	if err != nil {
		t.Fatal(err)
	}
	api := harness.Connect(t, address, made.WorkspaceKey.Reveal())
	registerApp(t, api, issuer, *made.Login)
	return made, api
}

// callWith sends a call with a token and returns the answer's status and code.
func callWith(t *testing.T, address, token string) (status int, code string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return answer.StatusCode, ""
	}
	var refusal struct{ Code string }
	if err := json.NewDecoder(answer.Body).Decode(&refusal); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, refusal.Code
}

// TestLogin_tokenAtGateway follows one person from one POST /proxy through a
// browser to calls of the API, and what their team may do to them on the way.
func TestLogin_tokenAtGateway(t *testing.T) {
	t.Parallel()
	upstream, issuer, app := testkit.NewUpstream(t), idp.StartCertified(t), newApplication(t)
	server := harness.Start(t)
	made, api := gated(t, server.Config.PublicURL, upstream, issuer, app)
	address := made.Project.Environments[0].URL + "/orders"
	want := func(when, token string, status int, code string) {
		t.Helper()
		if got, is := callWith(t, address, token); got != status || is != code {
			t.Errorf("%s: %d %s, want %d %s", when, got, is, status, code)
		}
	}
	gets := func(when, header, value string) {
		t.Helper()
		seen := upstream.Requests()
		if has := strings.Join(seen[len(seen)-1].Headers[header], "|"); has != value {
			t.Errorf("%s: the upstream gets %s %q, want %q", when, header, has, value)
		}
	}

	signsIn(t, issuer, app, *made.Login)
	ana := app.exchange(t, *made.Login)
	tenant := inGroup(t, api, ana.Subject, "staff")
	want("signed in", ana.access, http.StatusOK, "")
	gets("signed in", "X-Authenticated-Userid", ana.Subject)
	gets("signed in", "X-Authenticated-Scope", "openid profile email")
	gets("signed in", "X-Tenant-Id", tenant)
	gets("signed in", "X-Consumer-Groups", "") // the token is from before
	gets("signed in", "Authorization", "Bearer "+ana.access)
	want("with the ID token", ana.id, http.StatusUnauthorized, "invalid_token")
	want("with half of it", ana.access[:len(ana.access)-20], http.StatusUnauthorized, "invalid_token")

	if _, err := client.Do(t.Context(), api, contract.FreezeUser, contract.UserPath{User: ana.Subject}); err != nil {
		t.Fatal(err)
	}
	want("frozen", ana.access, http.StatusForbidden, "user_frozen")
	if _, err := client.Do(t.Context(), api, contract.UnfreezeUser, contract.UserPath{User: ana.Subject}); err != nil {
		t.Fatal(err)
	}
	want("unfrozen, with a token from before", ana.access, http.StatusUnauthorized, "invalid_token")
	comesBack(t, issuer, app, *made.Login)
	ana = app.exchange(t, *made.Login)
	want("signed in again", ana.access, http.StatusOK, "")

	isRefusedElsewhere(t, api, upstream, issuer, ana.access)

	provider := upstreamGets(t, api, *made.Login, "none")
	want("the upstream gets none", ana.access, http.StatusOK, "")
	gets("the upstream gets none", "Authorization", "")
	upstreamGets(t, api, *made.Login, "provider_access_token")
	want("with a token from before", ana.access, http.StatusUnauthorized, "invalid_token")
	signsIn(t, issuer, app, *made.Login) // and agrees to that token
	again := app.exchange(t, *made.Login)
	want("with one that carries the provider's", again.access, http.StatusOK, "")
	gets("again", "X-Authenticated-Userid", ana.Subject)
	gets("again", "X-Consumer-Groups", "staff")
	knownAt(t, issuer, upstream.Requests()[len(upstream.Requests())-1].Headers.Get("Authorization"))

	gone := contract.ProviderPath{Provider: provider}
	if _, err := client.Do(t.Context(), api, contract.DeleteProvider, gone); err != nil {
		t.Fatal(err)
	}
	want("without the provider", again.access, http.StatusUnauthorized, "invalid_token")
}

// isRefusedElsewhere checks that a token opens no project that does not serve its tenant.
func isRefusedElsewhere(
	t *testing.T, api *client.Client, upstream *testkit.Upstream, issuer *idp.Certified, token string,
) {
	t.Helper()
	other, err := client.Do(t.Context(), api, contract.CreateProxy, contract.NewProxy{
		Target:       upstream.URL,
		Name:         "other",
		RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
		Login: &contract.NewLogin{Providers: []contract.NewProvider{{
			Type:             "oidc",
			Issuer:           issuer.Issuer,
			ProviderSettings: contract.ProviderSettings{ClientID: new("x")},
		}}},
	}.Request())
	if err != nil {
		t.Fatal(err)
	}
	status, code := callWith(t, other.Project.Environments[0].URL, token)
	if status != http.StatusForbidden || code != "wrong_tenant" {
		t.Errorf("at a project that does not serve the tenant: %d %s", status, code)
	}
}

func TestLogin_deletedUser(t *testing.T) {
	t.Parallel()
	upstream, issuer, app := testkit.NewUpstream(t), idp.StartCertified(t), newApplication(t)
	server := harness.Start(t)
	made, api := gated(t, server.Config.PublicURL, upstream, issuer, app)
	signsIn(t, issuer, app, *made.Login)
	ana := app.exchange(t, *made.Login)
	if _, err := client.Do(t.Context(), api, contract.DeleteUser, contract.UserPath{User: ana.Subject}); err != nil {
		t.Fatal(err)
	}
	address := made.Project.Environments[0].URL
	if status, code := callWith(t, address, ana.access); status != http.StatusUnauthorized ||
		code != "invalid_token" {
		t.Errorf("deleted: %d %s", status, code)
	}
	signsIn(t, issuer, app, *made.Login)
	again := app.exchange(t, *made.Login)
	if status, _ := callWith(t, address, again.access); status != http.StatusOK || again.Subject == ana.Subject {
		t.Errorf("who comes again is %s after %s, and gets %d", again.Subject, ana.Subject, status)
	}
}

// Two processes on one database: who is frozen through the one is refused at the
// other, though neither asks the other, or the database, about a call.
func TestLogin_frozenAtOtherReplica(t *testing.T) {
	database, upstream := testkit.Postgres(t), testkit.NewUpstream(t)
	issuer, app := idp.StartCertified(t), newApplication(t)
	key := "POSTERN_SECRETS_KEY=" + strings.Repeat("A", 43) + "="
	a := harness.Serve(t, t.TempDir(), database, key)
	b := harness.Serve(t, t.TempDir(), database, key, "POSTERN_PUBLIC_URL="+a.URL)
	made, api := gated(t, a.URL, upstream, issuer, app)
	signsIn(t, issuer, app, *made.Login)
	ana := app.exchange(t, *made.Login)
	_, path, _ := strings.Cut(strings.TrimPrefix(made.Project.Environments[0].URL, "http://"), "/")
	elsewhere := func(when string, want int) {
		t.Helper()
		testkit.Await(t, fmt.Sprintf("%s: %d", when, want), func() (int, bool) {
			status, _ := callWith(t, b.Gateway+"/"+path, ana.access)
			return status, status == want
		})
	}
	elsewhere("signed in", http.StatusOK)
	for range 3 {
		if _, err := client.Do(
			t.Context(), api, contract.FreezeUser, contract.UserPath{User: ana.Subject},
		); err != nil {
			t.Fatal(err)
		}
		elsewhere("frozen", http.StatusForbidden)
		if _, err := client.Do(
			t.Context(), api, contract.UnfreezeUser, contract.UserPath{User: ana.Subject},
		); err != nil {
			t.Fatal(err)
		}
		elsewhere("unfrozen, with a token from before", http.StatusUnauthorized)
		comesBack(t, issuer, app, *made.Login)
		ana = app.exchange(t, *made.Login)
		elsewhere("signed in again", http.StatusOK)
	}
	if _, err := client.Do(t.Context(), api, contract.DeleteUser, contract.UserPath{User: ana.Subject}); err != nil {
		t.Fatal(err)
	}
	elsewhere("deleted", http.StatusUnauthorized)
}

// inGroup adds a user to a new group of the tenant, and returns the group's id.
func inGroup(t *testing.T, api *client.Client, user, name string) string {
	t.Helper()
	one, err := client.Do(t.Context(), api, contract.GetUser, contract.UserPath{User: user})
	if err != nil {
		t.Fatal(err)
	}
	group, err := client.Do(t.Context(), api, contract.CreateGroup, contract.NewGroup{Name: name}.In(one.Tenant))
	if err == nil {
		_, err = client.Do(t.Context(), api, contract.SetGroupMember, contract.InGroup(group.ID, user).As("member"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return one.Tenant
}

// upstreamGets has the login's only provider give the upstream another token.
func upstreamGets(t *testing.T, api *client.Client, login contract.ProxyLogin, what string) (provider string) {
	t.Helper()
	change := contract.ProviderSettings{TokenType: contract.NewTokenType{Client: "service", Upstream: what}}
	of := contract.AppClientPath{Client: login.ClientID}
	for one, err := range client.Each(t.Context(), api, contract.ListProviders, of) {
		if err == nil {
			_, err = client.Do(t.Context(), api, contract.UpdateProvider, change.Of(one.ID))
		}
		if err != nil {
			t.Fatal(err)
		}
		provider = one.ID
	}
	return provider
}

// knownAt asks the provider for the subject of its token.
func knownAt(t *testing.T, issuer *idp.Certified, authorization string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, issuer.Issuer+"/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	answer, err := http.DefaultClient.Do(r)
	var who struct{ Sub string }
	if err != nil {
		t.Fatal(err)
	}
	readJSON(t, answer, &who)
	if who.Sub != "ana" {
		t.Errorf("the provider knows the upstream's token as %q's", who.Sub)
	}
}
