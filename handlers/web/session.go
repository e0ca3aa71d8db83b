package web

import (
	"net/http"
	"strings"

	"github.com/gorilla/sessions"

	"postern/core/policy"
	"postern/service/accounts"
)

// SessionStore is a gorilla Store whose cookie holds only the secret of a session row. The rights of a session are read
// from its row on every request, so that ending it on the server ends it in every browser. The secret has 256 random
// bits and needs no signature.
type SessionStore struct{ secure bool }

const sessionSecret = "secret"

// Sessions returns the store of this site's session cookie.
func (s *Site) Sessions() SessionStore {
	return SessionStore{secure: strings.HasPrefix(s.Config.PublicURL, "https://")}
}

// cookieName has the prefix __Host- over https. Over plain http, which the default start
// on loopback uses, some browsers refuse Secure cookies.
func (st SessionStore) cookieName() string {
	if st.secure {
		return "__Host-" + policy.ControlCookie
	}
	return policy.ControlCookie
}

// Get implements sessions.Store.
func (st SessionStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(st, name)
}

// New implements sessions.Store.
func (st SessionStore) New(r *http.Request, name string) (*sessions.Session, error) {
	session := sessions.NewSession(st, name)
	session.Options = &sessions.Options{
		Path:     "/",
		MaxAge:   int(accounts.SessionTTL.Seconds()),
		Secure:   st.secure,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
	session.IsNew = true
	if cookie, err := r.Cookie(name); err == nil && cookie.Value != "" {
		session.Values[sessionSecret] = cookie.Value
		session.IsNew = false
	}
	return session, nil
}

// Save implements sessions.Store.
func (st SessionStore) Save(_ *http.Request, w http.ResponseWriter, session *sessions.Session) error {
	secret, _ := session.Values[sessionSecret].(string)
	http.SetCookie(w, sessions.NewCookie(session.Name(), secret, session.Options))
	return nil
}

// Read returns the session secret that a request carries, or "".
func (st SessionStore) Read(r *http.Request) string {
	session, err := st.Get(r, st.cookieName())
	if err != nil {
		return ""
	}
	secret, _ := session.Values[sessionSecret].(string)
	return secret
}

// Begin sets the session cookie to the secret of a new session.
func (st SessionStore) Begin(w http.ResponseWriter, r *http.Request, secret string) error {
	session, err := st.Get(r, st.cookieName())
	if err != nil {
		return err
	}
	session.Values[sessionSecret] = secret
	return session.Save(r, w)
}

// End deletes the session cookie.
func (st SessionStore) End(w http.ResponseWriter, r *http.Request) error {
	session, err := st.Get(r, st.cookieName())
	if err != nil {
		return err
	}
	session.Values[sessionSecret] = ""
	session.Options.MaxAge = -1
	return session.Save(r, w)
}
