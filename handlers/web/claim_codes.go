package web

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// The browser keeps the claim codes of what was made in it, or was looked at in
// it, until somebody signs in who can claim it. Codes hold no dots.
const (
	ClaimCookie     = "made"
	ClaimCookieTTL  = 30 * 24 * time.Hour
	maxClaimCodes   = 5
	ClaimCodeLength = 43 // of a claim code: 256 bits in base64
)

// ClaimCodes lists the codes that a browser keeps, the newest last.
func (s *Site) ClaimCodes(r *http.Request) []string {
	codes := strings.Split(s.Cookie(r, ClaimCookie), ".")
	return slices.DeleteFunc(codes, func(code string) bool { return len(code) != ClaimCodeLength })
}

// ClaimCodeCookie is the cookie of the codes and another.
func (s *Site) ClaimCodeCookie(codes []string, code string) *http.Cookie {
	codes = append(slices.DeleteFunc(codes, func(c string) bool { return c == code }), code)
	return s.newCookie(ClaimCookie, strings.Join(codes[max(0, len(codes)-maxClaimCodes):], "."), ClaimCookieTTL)
}
