package web

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// The claim cookie holds the claim codes of the workspaces that were created or viewed
// in a browser, separated by dots, until an account that can claim them signs in.
const (
	ClaimCookie     = "made"
	ClaimCookieTTL  = 30 * 24 * time.Hour
	ClaimCodeLength = 43 // characters: 256 bits in base64
	maxClaimCodes   = 5
)

// ClaimCodes returns the codes in the claim cookie, the newest last.
func (s *Site) ClaimCodes(r *http.Request) []string {
	codes := strings.Split(s.Cookie(r, ClaimCookie), ".")
	return slices.DeleteFunc(codes, func(code string) bool { return len(code) != ClaimCodeLength })
}

// ClaimCodeCookie returns the claim cookie of codes with one code added as the newest.
func (s *Site) ClaimCodeCookie(codes []string, code string) *http.Cookie {
	codes = append(slices.DeleteFunc(codes, func(c string) bool { return c == code }), code)
	return s.newCookie(ClaimCookie, strings.Join(codes[max(0, len(codes)-maxClaimCodes):], "."), ClaimCookieTTL)
}
