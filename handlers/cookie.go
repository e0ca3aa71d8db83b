package handlers

import (
	"net/http"
	"time"
)

// The cookies beside the session's. They hold no secret and nothing that is
// trusted.
const (
	themeCookie = "theme" // light or dark
	flashCookie = "done"  // a key of flashes
	nextCookie  = "next"  // path to go on to after signing in elsewhere
	teamCookie  = "team"  // id of the chosen team; counts only while one is in it
)

// browserCookie is a secret by which a browser is known when it comes back from
// signing in elsewhere.
const browserCookie = "browser"

// deviceCookie is the secret of a browser that has signed in before. It opens nothing:
// it spares its owner the throttle that others' wrong passwords fill.
const deviceCookie = "device"

// loginCookie holds the secret that binds hosted logins to a browser. It may outlive
// the login, which is bound in time by itself.
const loginCookie = "login"

const (
	loginTTL = time.Hour // after the last login was begun
	themeTTL = 365 * 24 * time.Hour
	flashTTL = time.Minute
	teamTTL  = 365 * 24 * time.Hour
)

// theme is the visitor's choice, "" for the system's.
func (s *Server) theme(r *http.Request) string {
	if theme := s.cookie(r, themeCookie); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

func (s *Server) cookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(s.sessions().cookieName() + "-" + name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// setCookie keeps a value for ttl; an empty value forgets it.
func (s *Server) setCookie(w http.ResponseWriter, name, value string, ttl time.Duration) {
	http.SetCookie(w, s.newCookie(name, value, ttl))
}

func (s *Server) newCookie(name, value string, ttl time.Duration) *http.Cookie {
	maxAge := int(ttl.Seconds())
	if value == "" {
		maxAge = -1
	}
	return &http.Cookie{Name: s.sessions().cookieName() + "-" + name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: s.sessions().secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
