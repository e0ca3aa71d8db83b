package oidc_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/serving"
	"postern/testkit/idp"
	"postern/testkit/state"
)

func newMachine(t *testing.T, db *models.DB) apiApp {
	t.Helper()
	confidential, types := true, []string{snapshot.ClientCredentials}
	return newAPIApp(t, db, contract.AppClientSettings{Confidential: &confidential, GrantTypes: &types})
}

// ask asks for a token as a third-party client library does.
func (s apiApp) ask(scope, resource string) got {
	s.t.Helper()
	command := exec.Command("node", "machine.mjs", s.server.Login.Issuer(s.client.ID), s.client.ID,
		s.client.ClientSecret.Reveal(), scope, resource)
	command.Dir = idp.NodeDirectory()
	raw, err := command.Output()
	if err != nil {
		s.t.Fatalf("run the client: %v (run tools/setup)", err)
	}
	var out got
	if err := json.Unmarshal(raw, &out); err != nil {
		s.t.Fatalf("the client prints %s", raw)
	}
	return out
}

func TestClientCredentials_certifiedClient(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMachine(t, db)
	tokens := s.ask("orders:read", shopAPI)
	if tokens.Error != "" || tokens.Scope != "orders:read" || tokens.Expires != 600 {
		t.Fatalf("got %+v", tokens)
	}
	if tokens.Refresh != "" || tokens.ID != "" {
		t.Errorf("a machine gets a refresh or ID token: %+v", tokens)
	}
	said := claims(t, tokens.Access)
	if said["sub"] != s.client.ID || said["client_id"] != s.client.ID || said["tenant"] != s.tenant {
		t.Errorf("the token says %v", said)
	}
	if aud := audienceOf(t, tokens.Access); !slices.Equal(aud, []string{shopAPI}) {
		t.Errorf("the token is for %v", aud)
	}
	for scope, want := range map[string]string{"invoices:read": "invalid_scope", "openid": "invalid_scope"} {
		if got := s.ask(scope, shopAPI); got.Error != want {
			t.Errorf("scope %s: %+v, want %s", scope, got, want)
		}
	}
	if got := s.ask("orders:read", "https://api.other.example"); got.Error != "invalid_target" {
		t.Errorf("an unknown API: %+v", got)
	}
}

// TestClientCredentials_freeze checks that a frozen client gets no token and that those it
// has are inactive, at the issuer and in what the gateways load.
func TestClientCredentials_freeze(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMachine(t, db)
	form := func() url.Values { return url.Values{"grant_type": {snapshot.ClientCredentials}} }
	tokens := s.token(form())
	if tokens.Scope != "orders:read orders:write" {
		t.Fatalf("without a scope it is granted %+v", tokens)
	}
	check := func(when string, active bool) {
		t.Helper()
		project, err := serving.Compile(db.Read(t.Context()), s.project, s.url)
		if err != nil {
			t.Fatal(err)
		}
		if project.Clients[0].Frozen == active || !project.Clients[0].Machine {
			t.Errorf("%s, gateways load %+v", when, project.Clients[0])
		}
	}
	check("before", true)
	if got := s.introspect(url.Values{"token": {tokens.Access}}); !got.Active || got.Subject != s.client.ID {
		t.Errorf("its token: %s", got.raw)
	}
	if got := s.userInfo(tokens.Access); got != http.StatusUnauthorized {
		t.Errorf("userinfo of a machine: %d", got)
	}
	for range 2 { // also twice
		if _, err := s.server.AppClients.FreezeClient(t.Context(), s.owner, s.client.Path()); err != nil {
			t.Fatal(err)
		}
	}
	check("frozen", false)
	if got := s.token(form()); got.Error != "unauthorized_client" {
		t.Errorf("frozen, it gets %+v", got)
	}
	if _, err := s.server.AppClients.UnfreezeClient(t.Context(), s.owner, s.client.Path()); err != nil {
		t.Fatal(err)
	}
	check("after", true)
	if got := s.token(form()); got.Access == "" {
		t.Errorf("unfrozen, it gets %+v", got)
	}
}

func TestGrantTypes(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMachine(t, db)
	s.offerFake()
	r := s.request("openid")
	s.leadsBack("a login", s.get(s.browser(), s.path("/authorize?"+r.query.Encode())), "unauthorized_client")
	for _, grant := range []string{"authorization_code", "refresh_token"} {
		if got := s.token(url.Values{"grant_type": {grant}}); got.Error != "unauthorized_client" {
			t.Errorf("%s of a machine: %+v", grant, got)
		}
	}
	web := newLoginApp(t, db, contract.AppClientSettings{})
	if got := web.token(url.Values{
		"grant_type": {snapshot.ClientCredentials},
	}); got.Error != "unauthorized_client" {
		t.Errorf("client credentials of a public client: %+v", got)
	}
	public := false
	for name, change := range map[string]contract.AppClientSettings{
		"a machine without a secret": {Confidential: &public},
		"no grant type":              {GrantTypes: &[]string{}},
		"an unknown one":             {GrantTypes: &[]string{"password"}},
		"refreshing alone":           {GrantTypes: &[]string{"refresh_token"}},
	} {
		_, err := s.server.AppClients.UpdateClient(t.Context(), s.owner, change.Of(s.client.ID))
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
}
