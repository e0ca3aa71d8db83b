package providers

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"postern/platform/ascii"
	"postern/platform/federation"
)

const (
	maxSubject = 255 // bytes, the longest that OpenID Connect allows (Core, 2)
	maxEmail   = 254 // bytes (RFC 5321, 4.5.3.1.3)
	maxName    = 200 // characters, as many as the directory allows
)

// bounded returns the identity with texts that the directory can store: a customer's
// provider may send a name of a megabyte, or U+0000, which PostgreSQL refuses. It returns
// false if the subject is unusable, because a changed one could be another user's. An
// unusable address is dropped, a long name is cut.
func bounded(p federation.Identity) (federation.Identity, bool) {
	if p.Subject == "" || len(p.Subject) > maxSubject || !printable(p.Subject) {
		return federation.Identity{}, false
	}
	p.Email = ascii.Lower(p.Email)
	if len(p.Email) > maxEmail || !printable(p.Email) {
		p.Email, p.EmailVerified, p.Domain = "", false, ""
	}
	p.Name = boundedName(p.Name)
	return p, true
}

func boundedName(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if Unprintable(r) {
			return -1
		}
		return r
	}, name))
	if utf8.RuneCountInString(name) > maxName {
		name = string([]rune(name)[:maxName])
	}
	return name
}

func printable(s string) bool { return !strings.ContainsFunc(s, Unprintable) }

// Unprintable reports whether r is a control character or changes the direction of text.
func Unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
}
