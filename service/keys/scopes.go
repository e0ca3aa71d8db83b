package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/fault"
)

// MaxTypes is how many key types a project can have in addition to the built-in ones.
const MaxTypes = 50

// maxScopes bounds the scopes of one key type: they are sent in one header.
const maxScopes = 100

// ScopePattern matches all scopes except *.
var ScopePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9:._-]{0,62}(\*)?$`)

// CheckScopes checks the scopes of a key type. at is their JSON Pointer.
func CheckScopes(at string, scopes []string) (wrong []fault.Field) {
	if len(scopes) > maxScopes {
		return []fault.Field{{
			Pointer: at, Code: "too_many_scopes", Detail: fmt.Sprintf("Use at most %d scopes.", maxScopes),
		}}
	}
	if len(scopes) == 0 {
		return []fault.Field{{
			Pointer: at, Code: "required", Detail: "Use at least one scope, such as read or orders:*.",
		}}
	}
	for i, scope := range scopes {
		if scope != "*" && !ScopePattern.MatchString(scope) {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("%s/%d", at, i),
				Code:    "invalid_scope",
				Detail:  "Use lowercase letters, digits and : . _ -, such as orders:read, or * for all.",
			})
		}
	}
	return wrong
}

// withScopes finds the key type with exactly these scopes, in any order.
func withScopes(types []models.KeyType, scopes []string) (models.KeyType, bool) {
	wanted := sortedScopes(scopes)
	i := slices.IndexFunc(types, func(t models.KeyType) bool { return slices.Equal(sortedScopes(t.Scopes), wanted) })
	if i < 0 {
		return models.KeyType{}, false
	}
	return types[i], true
}

func sortedScopes(scopes []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(scopes)))
}

// maxTypeName is the longest name of a key type, in bytes.
const maxTypeName = 40

// newType is a key type for scopes, named by them.
func newType(projectID string, types []models.KeyType, scopes []string) models.KeyType {
	word := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	name := strings.Trim(strings.Map(word, strings.Join(scopes, "-")), "-")
	if name == "" || name[0] < 'a' {
		name = strings.TrimRight("scopes-"+name, "-")
	}
	if len(name) < 2 {
		name += "-scope"
	}
	base := strings.TrimRight(name[:min(len(name), maxTypeName)], "-")
	name = base
	for n := 2; slices.ContainsFunc(types, func(t models.KeyType) bool { return t.Name == name }); n++ {
		suffix := fmt.Sprintf("-%d", n)
		name = strings.TrimRight(base[:min(len(base), maxTypeName-len(suffix))], "-") + suffix
	}
	return models.KeyType{ID: models.NewID("kty"), ProjectID: projectID, Name: name, Scopes: sortedScopes(scopes)}
}
