package web

import (
	"net/http"
	"strings"

	"github.com/gorilla/sessions"

	"postern/core/policy"
	"postern/service/accounts"
)

// sessionStore is gorilla's Store over a cookie that carries nothing but the
// secret of a session row: what a session may do is looked up on every request,
// so that ending it on the server ends it everywhere. The secret is 256 random
// bits and needs no signature.
type SessionStore struct{ secure bool }

const sessionSecret = "secret"

func (s *Site) Sessions() SessionStore {
	return SessionStore{secure: strings.HasPrefix(s.Config.PublicURL, "https://")}
}

// cookieName is __Host- wherever browsers allow it: over https. Over plain http,
// which the default start on loopback uses, some browsers refuse Secure cookies.
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

func (st SessionStore) Read(r *http.Request) string {
	session, err := st.Get(r, st.cookieName())
	if err != nil {
		return ""
	}
	secret, _ := session.Values[sessionSecret].(string)
	return secret
}

func (st SessionStore) Begin(w http.ResponseWriter, r *http.Request, secret string) error {
	session, err := st.Get(r, st.cookieName())
	if err != nil {
		return err
	}
	session.Values[sessionSecret] = secret
	return session.Save(r, w)
}

func (st SessionStore) End(w http.ResponseWriter, r *http.Request) error {
	session, err := st.Get(r, st.cookieName())
	if err != nil {
		return err
	}
	session.Values[sessionSecret] = ""
	session.Options.MaxAge = -1
	return session.Save(r, w)
}
