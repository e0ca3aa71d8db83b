package web

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Cookies of pages. They hold no secret and nothing that is trusted.
const (
	ThemeCookie = "theme" // light or dark
	RailCookie  = "rail"  // true where the sidebar shows icons only
	FlashCookie = "done"  // key of the message to show on the next page
	NextCookie  = "next"  // path to go to after a federated sign-in
	TeamCookie  = "team"  // id of the chosen team; ignored unless the account is a member
)

// Cookies that hold a secret.
const (
	// BrowserCookie binds a federated sign-in to the browser that began it.
	BrowserCookie = "browser"
	// DeviceCookie names a browser that has signed in before. It grants nothing: its
	// sign-ins are throttled apart from the wrong passwords of others.
	DeviceCookie = "device"
	// loginCookie and an attempt's id name the cookie that binds a hosted login to a browser. A login has its own
	// expiry, so the cookie may outlive it.
	loginCookie = "login-"
)

// maxLogins is how many logins a browser can have begun, for example in several tabs.
const maxLogins = 8

// LoginSecret returns the secret of a hosted login that this browser began, or "".
func (s *Site) LoginSecret(r *http.Request, attempt string) string {
	return s.Cookie(r, loginCookie+attempt)
}

// KeepLogin sets the cookie of a new hosted login, and deletes those of the oldest ones beyond maxLogins.
func (s *Site) KeepLogin(w http.ResponseWriter, r *http.Request, attempt, secret string) {
	prefix := s.Sessions().cookieName() + "-" + loginCookie
	var others []string
	for _, one := range r.Cookies() {
		if id, ok := strings.CutPrefix(one.Name, prefix); ok && id != attempt {
			others = append(others, id)
		}
	}
	slices.Sort(others) // ids grow with time
	for _, id := range others[:max(0, len(others)-maxLogins+1)] {
		s.SetCookie(w, loginCookie+id, "", 0)
	}
	s.SetCookie(w, loginCookie+attempt, secret, LoginTTL)
}

// HostedCookie names the cookie of a user's session at the hosted pages of an app client.
func HostedCookie(clientID string) string { return "user-" + clientID }

// How long cookies are kept.
const (
	LoginTTL = time.Hour // after the login began
	ThemeTTL = 365 * 24 * time.Hour
	TeamTTL  = 365 * 24 * time.Hour
	flashTTL = time.Minute
)

// Theme returns the color scheme in the theme cookie, or "" for the system's.
func (s *Site) Theme(r *http.Request) string {
	if theme := s.Cookie(r, ThemeCookie); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

// Cookie returns the value of one of the cookies above, or "" if it was not sent.
func (s *Site) Cookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(s.Sessions().cookieName() + "-" + name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// SetCookie sets one of the cookies above for ttl. An empty value deletes it.
func (s *Site) SetCookie(w http.ResponseWriter, name, value string, ttl time.Duration) {
	http.SetCookie(w, s.newCookie(name, value, ttl))
}

func (s *Site) newCookie(name, value string, ttl time.Duration) *http.Cookie {
	maxAge := int(ttl.Seconds())
	if value == "" {
		maxAge = -1
	}
	return &http.Cookie{
		Name:     s.Sessions().cookieName() + "-" + name,
		Value:    value,
		Path:     "/",
		MaxAge:   maxAge,
		Secure:   s.Sessions().secure,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
}
