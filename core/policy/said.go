package policy

import (
	"slices"
	"strings"
)

// maxScopes bounds the scopes of a token in bytes, as the upstream's header has them.
const maxScopes = 4096

// IsSubject tells a sub that a header can carry: at most 255 ASCII characters (OpenID
// Connect Core 1.0, 2), printable, and without a blank at either end. What a reader of
// headers would cut or trim is refused: the user would be another one there than here.
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

// ReadScopes reads texts of scopes, each with blanks between them; false when one is no
// scope-token (RFC 6749, 3.3) or they are too many for a header.
func ReadScopes(texts ...string) ([]string, bool) {
	length, scopes := 0, []string{}
	for _, text := range texts {
		for scope := range strings.FieldsSeq(text) {
			if !isScope(scope) {
				return nil, false
			}
			length += len(scope) + 1
			scopes = append(scopes, scope)
		}
	}
	return scopes, length <= maxScopes
}

func isScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// ListedGroups are those whose names would not read as several, or as another one, in
// a list that a header carries. Who is in one that would is let in without it.
func ListedGroups(groups []string) []string {
	return slices.DeleteFunc(
		groups, func(group string) bool { return !IsSubject(group) || strings.Contains(group, ",") },
	)
}
