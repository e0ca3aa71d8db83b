package oidc_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

// receiver is the server of an application that is notified of ended sessions.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	tokens []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tokens = append(r.tokens, asked.PostFormValue("logout_token"))
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// sids returns the sessions that the receiver was notified of since the last call.
func (r *receiver) sids(t *testing.T) (ids []string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, token := range r.tokens {
		ids = append(ids, sid(t, token))
	}
	r.tokens = nil
	slices.Sort(ids)
	return ids
}

func TestBackchannelLogout(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		told := newReceiver(t)
		s := newLoginApp(t, db, contract.AppClientSettings{BackchannelLogoutURI: &told.URL})
		fake, provider := s.offerFake()
		send := func() {
			t.Helper()
			if err := s.server.Login.SendLogouts(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		browser := s.browser()
		one := s.enter(browser, fake, provider.ID, "openid")
		two := s.enter(s.browser(), fake, provider.ID, "openid")
		user := claims(t, one.ID)["sub"].(string)
		if send(); len(told.sids(t)) != 0 {
			t.Error("the application is notified of sessions that live")
		}

		for range 2 {
			s.get(s.browser(), s.path("/logout?id_token_hint="+one.ID))
		}
		send()
		s.checkLogoutToken(told, user)
		if got, want := told.sids(t), []string{sid(t, one.ID)}; !slices.Equal(got, want) {
			t.Errorf("after a sign-out it is notified of %v, want %v once", got, want)
		}

		told.answers(http.StatusInternalServerError)
		if _, err := s.server.Login.EndSessions(t.Context(), s.owner, contract.UserPath{User: user}); err != nil {
			t.Fatal(err)
		}
		send()
		send() // too early
		if got, want := told.sids(t), []string{sid(t, two.ID)}; !slices.Equal(got, want) {
			t.Errorf("after signing out everywhere it is notified of %v, want %v once", got, want)
		}
		told.answers(http.StatusNoContent)
		if _, err := db.SQL().ExecContext(t.Context(), "UPDATE logout_notices SET due_at = "+
			"$1", models.Now()); err != nil {
			t.Fatal(err)
		}
		send()
		send()
		if got, want := told.sids(t), []string{sid(t, two.ID)}; !slices.Equal(got, want) {
			t.Errorf("after an error it is notified of %v, want %v once more", got, want)
		}

		three := s.enter(browser, fake, provider.ID, "openid")
		if _, err := s.server.Directory.DeleteUser(t.Context(), s.owner, contract.UserPath{User: user}); err != nil {
			t.Fatal(err)
		}
		send()
		if got, want := told.sids(t), []string{sid(t, three.ID)}; !slices.Equal(got, want) {
			t.Errorf("after the user is deleted it is notified of %v, want %v", got, want)
		}
	})
}

// checkLogoutToken checks the first token as an application does (OpenID Connect
// Back-Channel Logout 1.0, 2.6).
func (s *app) checkLogoutToken(told *receiver, user string) {
	s.t.Helper()
	told.mu.Lock()
	defer told.mu.Unlock()
	if len(told.tokens) == 0 {
		s.t.Fatal("there is no logout token")
	}
	parsed, err := jwt.ParseSigned(told.tokens[0], []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		s.t.Fatal(err)
	}
	keys, err := s.server.Login.JWKS(s.t.Context(), s.client.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	var got struct {
		jwt.Claims
		Session string                     `json:"sid"`
		Nonce   *string                    `json:"nonce"`
		Events  map[string]json.RawMessage `json:"events"`
	}
	if err := parsed.Claims(keys, &got); err != nil {
		s.t.Fatalf("the signature: %v", err)
	}
	expected := jwt.Expected{
		Issuer:      s.server.Login.Issuer(s.client.ID),
		AnyAudience: jwt.Audience{s.client.ID},
		Subject:     user,
		Time:        time.Now(),
	}
	if err := got.Validate(expected); err != nil {
		s.t.Errorf("the claims: %v", err)
	}
	if string(got.Events["http://schemas.openid.net/event/backchannel-logout"]) != "{}" || got.Nonce != nil ||
		got.ID == "" {
		s.t.Errorf("the token says %+v", got)
	}
	head, err := base64.RawURLEncoding.DecodeString(strings.Split(told.tokens[0], ".")[0])
	if err != nil || !strings.Contains(string(head), `"typ":"logout+jwt"`) {
		s.t.Errorf("the header is %s, %v", head, err)
	}
	if status := s.userInfo(told.tokens[0]); status != http.StatusUnauthorized {
		s.t.Errorf("a logout token opens userinfo: %d", status)
	}
}
