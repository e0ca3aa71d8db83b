package handlers

import (
	"net/http"
	"slices"
	"strings"
	"time"
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
