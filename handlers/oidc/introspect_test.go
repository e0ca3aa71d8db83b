package oidc_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// introspected is the introspection endpoint's answer.
type introspected struct {
	status    int
	Active    bool   `json:"active"`
	Scope     string `json:"scope"`
	ClientID  string `json:"client_id"`
	TokenType string `json:"token_type"`
	Subject   string `json:"sub"`
	Issuer    string `json:"iss"`
	Expires   int64  `json:"exp"`
	Error     string `json:"error"`
	raw       string
}

func (s *app) introspect(form url.Values) introspected {
	s.t.Helper()
	if !form.Has("client_id") {
		form.Set("client_id", s.client.ID)
	}
	if !form.Has("client_secret") && s.client.ClientSecret != "" {
		form.Set("client_secret", s.client.ClientSecret.Reveal())
	}
	answer := s.post(http.DefaultClient, s.path("/introspect"), form)
	out := introspected{status: answer.status, raw: strings.TrimSpace(answer.raw)}
	if err := json.Unmarshal([]byte(answer.raw), &out); err != nil {
		s.t.Fatalf("the introspection endpoint answers %d %s", answer.status, answer.raw)
	}
	return out
}

// inactive is the whole answer about every token that is not active.
const inactive = `{"active":false}`

func TestIntrospect_inactive(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	confidential, name := true, "other"
	s := newLoginApp(t, db, contract.AppClientSettings{Confidential: &confidential})
	fake, provider := s.offerFake()
	fresh := func() got { return s.exchange(s.signIn(fake, provider, "openid offline_access")) }
	first := fresh()
	other, err := s.server.AppClients.CreateClient(t.Context(), s.owner, contract.NewAppClient{
		Name: name, AppClientSettings: contract.AppClientSettings{Confidential: &confidential},
	}.In(s.tenant))
	if err != nil {
		t.Fatal(err)
	}
	mine := s.client
	s.client = other
	for what, token := range map[string]string{"access": first.Access, "refresh": first.Refresh} {
		if got := s.introspect(url.Values{"token": {token}}); got.raw != inactive {
			t.Errorf("another client's %s token: %s, want %s", what, got.raw, inactive)
		}
		revoked := s.post(http.DefaultClient, s.path("/revoke"), url.Values{
			"client_id":     {other.ID},
			"client_secret": {other.ClientSecret.Reveal()},
			"token":         {token},
		})
		if revoked.status != http.StatusOK || revoked.raw != "" {
			t.Errorf("revoking another client's %s token: %d %s", what, revoked.status, revoked.raw)
		}
	}
	s.client = mine
	if got := s.introspect(url.Values{"token": {first.Access}}); !got.Active {
		t.Errorf("after another client tried to revoke it: %s", got.raw)
	}
	cut := first.Access[:len(first.Access)-6] + "AAAAAA"
	for what, token := range map[string]string{"an ID token": first.ID, "a forged token": cut, "no token": "x"} {
		if got := s.introspect(url.Values{"token": {token}}); got.raw != inactive {
			t.Errorf("%s: %s, want %s", what, got.raw, inactive)
		}
	}
	again := s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.Refresh}})
	if got := s.introspect(url.Values{"token": {first.Refresh}}); got.raw != inactive {
		t.Errorf("a used refresh token: %s, want %s", got.raw, inactive)
	}
	s.setState(claims(t, again.Access)["sub"].(string), "frozen")
	for what, token := range map[string]string{"access": again.Access, "refresh": again.Refresh} {
		if got := s.introspect(url.Values{"token": {token}}); got.raw != inactive {
			t.Errorf("a frozen user's %s token: %s, want %s", what, got.raw, inactive)
		}
	}
	s.setState(claims(t, again.Access)["sub"].(string), "active")
	if got := s.introspect(url.Values{"token": {again.Access}}); !got.Active {
		t.Errorf("after unfreezing: %s", got.raw)
	}
	if _, err := s.server.AppClients.DeleteProvider(t.Context(), s.owner, provider.Path()); err != nil {
		t.Fatal(err)
	}
	if got := s.introspect(url.Values{"token": {again.Access}}); got.raw != inactive {
		t.Errorf("without its provider: %s, want %s", got.raw, inactive)
	}
}

// setState writes a user's state.
func (s *app) setState(user, state string) {
	s.t.Helper()
	err := s.db.Write(s.t.Context(), func(tx *models.Tx) error {
		row, err := tx.EndUserByID(user)
		if err != nil {
			return err
		}
		row.State = state
		return tx.UpdateEndUser(row)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestIntrospect_clients checks that only a client with its secret gets an answer, and
// that discovery names the endpoint for those alone.
func TestIntrospect_clients(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	confidential := true
	s := newLoginApp(t, db, contract.AppClientSettings{Confidential: &confidential})
	fake, provider := s.offerFake()
	token := s.exchange(s.signIn(fake, provider, "openid")).Access
	for name, form := range map[string]url.Values{
		"no secret":         {"token": {token}, "client_secret": {""}},
		"a wrong secret":    {"token": {token}, "client_secret": {"wrong"}},
		"another client id": {"token": {token}, "client_id": {"cli_other"}},
	} {
		if got := s.introspect(form); got.status != http.StatusUnauthorized || got.Error != "invalid_client" {
			t.Errorf("%s: %d %s, want 401 invalid_client", name, got.status, got.raw)
		}
	}
	if got := s.introspect(url.Values{"token": {""}}); got.status != 400 || got.Error != "invalid_request" {
		t.Errorf("without a token: %d %s, want 400 invalid_request", got.status, got.raw)
	}
	if got := s.introspect(url.Values{"token": {token, token}}); got.Error != "invalid_request" {
		t.Errorf("two tokens: %d %s, want invalid_request", got.status, got.raw)
	}
	if page := s.get(s.browser(), s.path("/introspect?token="+token)); page.status != http.StatusMethodNotAllowed {
		t.Errorf("by GET: %d, want 405: a token in an address would be logged", page.status)
	}
	wants := s.server.Login.Issuer(s.client.ID) + "/introspect"
	if got := s.discovered()["introspection_endpoint"]; got != wants {
		t.Errorf("discovery names %v, want %s", got, wants)
	}
	public := false
	_, err := s.server.AppClients.UpdateClient(t.Context(), s.owner, contract.AppClientSettings{
		Confidential: &public,
	}.Of(s.client.ID))
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"token": {token}, "client_secret": {""}}
	if got := s.introspect(form); got.status != http.StatusUnauthorized {
		t.Errorf("a public client: %d %s, want 401", got.status, got.raw)
	}
	if got, named := s.discovered()["introspection_endpoint"]; named {
		t.Errorf("discovery of a public client names %v", got)
	}
	revoked := s.post(http.DefaultClient, s.path("/revoke"), url.Values{
		"client_id": {s.client.ID},
		"token":     {token},
	})
	if revoked.status != http.StatusOK {
		t.Errorf("a public client revokes its token: %d %s", revoked.status, revoked.raw)
	}
}

func (s *app) discovered() map[string]any {
	s.t.Helper()
	var found map[string]any
	document := s.get(s.browser(), s.path("/.well-known/openid-configuration"))
	if err := json.Unmarshal([]byte(document.raw), &found); err != nil {
		s.t.Fatal(err)
	}
	return found
}

// TestIntrospect_certifiedClient asks with a third-party client library, which discovers
// the endpoint and authenticates by Basic.
func TestIntrospect_certifiedClient(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	confidential := true
	s := newLoginApp(t, db, contract.AppClientSettings{Confidential: &confidential})
	fake, provider := s.offerFake()
	tokens := s.exchange(s.signIn(fake, provider, "openid email offline_access"))
	ask := s.certifiedIntrospection()
	subject := claims(t, tokens.Access)["sub"]

	got := ask(tokens.Access)
	if !got.Active || got.Subject != subject || got.TokenType != "Bearer" {
		t.Errorf("the access token: %+v, want it active, Bearer, of %v", got, subject)
	}
	if got.Scope != "openid email offline_access" || got.ClientID != s.client.ID {
		t.Errorf("the access token: scope %q of the client %q", got.Scope, got.ClientID)
	}
	if exp := claims(t, tokens.Access)["exp"].(float64); got.Expires != int64(exp) {
		t.Errorf("the access token expires at %d, want %v", got.Expires, exp)
	}
	if got.Issuer != s.server.Login.Issuer(s.client.ID) {
		t.Errorf("the access token's issuer: %q", got.Issuer)
	}
	if got = ask(tokens.Refresh); !got.Active || got.TokenType != "refresh_token" {
		t.Errorf("the refresh token: %+v, want it active", got)
	}
	if got = ask("revoke " + tokens.Refresh); got.Active {
		t.Errorf("the revoked refresh token: %+v", got)
	}
	if got = ask(tokens.Access); got.Active {
		t.Errorf("the access token of the revoked session: %+v", got)
	}
}

// certifiedIntrospection starts the client library, and returns a function that makes it ask about a token.
func (s *app) certifiedIntrospection() func(line string) introspected {
	s.t.Helper()
	command := exec.Command(
		"node", "introspect.mjs", s.server.Login.Issuer(s.client.ID), s.client.ID, s.client.ClientSecret.Reveal(),
	)
	command.Dir = idp.NodeDirectory()
	var complaints bytes.Buffer
	command.Stderr = &complaints
	input, err := command.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.t.Fatalf("start the client: %v (run tools/setup)", err)
	}
	s.t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})
	lines := bufio.NewScanner(output)
	return func(line string) introspected {
		s.t.Helper()
		if _, err := io.WriteString(input, line+"\n"); err != nil {
			s.t.Fatal(err)
		}
		if !lines.Scan() {
			_ = input.Close()
			s.t.Fatal(fmt.Errorf("the client ended: %w\n%s", command.Wait(), complaints.String()))
		}
		var got introspected
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			s.t.Fatal(err)
		}
		return got
	}
}
