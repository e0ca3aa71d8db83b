package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"postern/platform/fault"
	"postern/views/projects"
)

// The browser keeps the claim codes of what was made in it, or was looked at in
// it, until somebody signs in who can claim it. Codes hold no dots.
const (
	madeCookie = "made"
	madeTTL    = 30 * 24 * time.Hour
	maxMade    = 5
	codeLength = 43 // of a claim code: 256 bits in base64
)

// made lists the codes that a browser keeps, the newest last.
func (s *Server) made(r *http.Request) []string {
	codes := strings.Split(s.cookie(r, madeCookie), ".")
	return slices.DeleteFunc(codes, func(code string) bool { return len(code) != codeLength })
}

// withMade is the cookie of the codes and another.
func (s *Server) withMade(codes []string, code string) *http.Cookie {
	codes = append(slices.DeleteFunc(codes, func(c string) bool { return c == code }), code)
	return s.newCookie(madeCookie, strings.Join(codes[max(0, len(codes)-maxMade):], "."), madeTTL)
}

// rememberClaim keeps the code of a claim page for after the sign-in, by whatever
// way that comes about.
func (v *visit) rememberClaim() {
	code, ok := strings.CutPrefix(v.c.Request.URL.Path, "/claim/")
	if ok && len(code) == codeLength {
		http.SetCookie(v.c.Writer, v.server.withMade(v.server.made(v.c.Request), code))
	}
}

// keepMade replaces the codes that the browser keeps.
func (v *visit) keepMade(codes []string) {
	if len(codes) < len(v.server.made(v.c.Request)) {
		v.server.setCookie(v.c.Writer, madeCookie, strings.Join(codes, "."), madeTTL)
	}
}

// offers is what of it can still be claimed; the browser forgets the rest.
func (s *Server) offers(v *visit) ([]projects.Offer, error) {
	var out []projects.Offer
	var kept []string
	for _, code := range s.made(v.c.Request) {
		found, err := s.Accounts.Look(v.ctx(), v.who, code)
		switch fault.KindOf(err) {
		case fault.NotFound, fault.Conflict, fault.Gone:
			continue
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, code)
		out = append(out, projects.Offer{Projects: strings.Join(found.Projects, ", "), URL: "/claim/" + url.PathEscape(code)})
	}
	v.keepMade(kept)
	return out, nil
}
