package web

import (
	"net/http"
	"time"
)

// The cookies beside the session's. They hold no secret and nothing that is
// trusted.
const (
	ThemeCookie = "theme" // light or dark
	FlashCookie = "done"  // a key of flashes
	NextCookie  = "next"  // path to go on to after signing in elsewhere
	TeamCookie  = "team"  // id of the chosen team; counts only while one is in it
)

// BrowserCookie is a secret by which a browser is known when it comes back from
// signing in elsewhere.
const BrowserCookie = "browser"

// DeviceCookie is the secret of a browser that has signed in before. It opens nothing:
// it spares its owner the throttle that others' wrong passwords fill.
const DeviceCookie = "device"

// LoginCookie holds the secret that binds hosted logins to a browser. It may outlive
// the login, which is bound in time by itself.
const LoginCookie = "login"

const (
	LoginTTL = time.Hour // after the last login was begun
	ThemeTTL = 365 * 24 * time.Hour
	flashTTL = time.Minute
	TeamTTL  = 365 * 24 * time.Hour
)

// Theme is the visitor's choice, "" for the system's.
func (s *Site) Theme(r *http.Request) string {
	if theme := s.Cookie(r, ThemeCookie); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

func (s *Site) Cookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(s.Sessions().cookieName() + "-" + name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// SetCookie keeps a value for ttl; an empty value forgets it.
func (s *Site) SetCookie(w http.ResponseWriter, name, value string, ttl time.Duration) {
	http.SetCookie(w, s.newCookie(name, value, ttl))
}

func (s *Site) newCookie(name, value string, ttl time.Duration) *http.Cookie {
	maxAge := int(ttl.Seconds())
	if value == "" {
		maxAge = -1
	}
	return &http.Cookie{Name: s.Sessions().cookieName() + "-" + name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: s.Sessions().secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
