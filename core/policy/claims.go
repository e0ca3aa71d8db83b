package policy

import (
	"slices"
	"strings"
)

// maxScopes bounds the scopes of a token, in bytes of the header that carries them.
const maxScopes = 4096

// IsSubject reports whether s, a sub claim, can be sent in a header: at most 255 ASCII
// characters (OpenID Connect Core 1.0, 2), printable, without a blank at either end.
// A value that an upstream would trim or cut could name a different user there.
func IsSubject(s string) bool {
	if s == "" || len(s) > 255 || s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// ReadScopes returns the scopes in texts, which are separated by ASCII white space. It returns false if one of them
// isn't a scope-token (RFC 6749, 3.3), or if they are too long for a header.
func ReadScopes(texts ...string) ([]string, bool) {
	length, scopes := 0, []string{}
	for _, text := range texts {
		for scope := range strings.FieldsFuncSeq(text, isSpace) {
			if !isScope(scope) {
				return nil, false
			}
			length += len(scope) + 1
			scopes = append(scopes, scope)
		}
	}
	return scopes, length <= maxScopes
}

func isSpace(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' }

func isScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// ListedGroups removes the groups whose names can't be in a comma-separated header, where one could read as several
// groups or as a different one. It modifies groups. Users in a removed group are still admitted, without that group.
func ListedGroups(groups []string) []string {
	return slices.DeleteFunc(groups, func(group string) bool {
		return !IsSubject(group) || strings.Contains(group, ",")
	})
}
