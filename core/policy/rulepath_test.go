package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadings(t *testing.T) {
	for path, want := range map[string][]string{
		"/orders":        nil,
		"/":              nil,
		"/orders;x":      {"/orders", "/orders", "/orders"},
		"/a%2Fb":         {"/a/b", "/a/b", "/a/b"},
		"/a%252Fb":       {"/a%252Fb", "/a/b", "/a%252Fb"},
		"/a%3Bb/c":       {"/a/c", "/a/c", "/a/c"},
		"/;x":            {"/", "/", "/"},
		"/a%5Cb;c%2Fd/e": {"/a/b/d/e", "/a/b/d/e", "/a/b/e"},
		"/a%2500b/c":     {"/a%2500b/c", "/a\x00b/c", "/a%2500b/c", "/a"},
		"/%252500":       {"/%252500", "/\x00", "/%252500", "/"},
	} {
		if got := slices.Collect(Readings(path)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestCheckRulePath(t *testing.T) {
	for _, path := range []string{
		"/", "/orders", "/orders/{id}", "/{a}/{b}", "/users/@me", "/a:b", "/caf%C3%A9", "/café", "/a b",
		"/~x", "/items:batch", "/{a.b-c_1}",
	} {
		if err := CheckRulePath(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]error{
		"":                             ErrRulePathStart,
		"orders":                       ErrRulePathStart,
		"/orders/":                     ErrRulePathSegment,
		"//orders":                     ErrRulePathSegment,
		"/a/../b":                      ErrRulePathSegment,
		"/a/%2e":                       ErrRulePathSegment,
		"/a/{id}.json":                 ErrRulePathTemplate,
		"/a/{}":                        ErrRulePathTemplate,
		"/{id}/{id}":                   ErrRulePathTemplate,
		"/{a b}":                       ErrRulePathTemplate,
		"/admin/*":                     ErrRulePathWildcard,
		"/secret/**":                   ErrRulePathWildcard,
		"/*":                           ErrRulePathWildcard,
		"/a/b*":                        ErrRulePathWildcard,
		"/a/%2a":                       ErrRulePathWildcard,
		"/orders/:id":                  ErrRulePathWildcard,
		"/orders/%3Aid":                ErrRulePathWildcard,
		"/files/{path...}":             ErrRulePathWildcard,
		"/files/{path+}":               ErrRulePathWildcard,
		"/files/{path*}":               ErrRulePathWildcard,
		"/a?x=1":                       ErrRulePathCharacter,
		"/a#x":                         ErrRulePathCharacter,
		"/a%2Fb":                       ErrRulePathCharacter,
		"/a;b":                         ErrRulePathCharacter,
		"/a%3bb":                       ErrRulePathCharacter,
		`/a\b`:                         ErrRulePathCharacter,
		"/a%":                          ErrRulePathCharacter,
		"/a%zz":                        ErrRulePathCharacter,
		"/a%00":                        ErrRulePathCharacter,
		"/a%2541":                      ErrRulePathCharacter,
		"/" + strings.Repeat("x", 512): ErrRulePathLength,
		strings.Repeat("/x", 33):       ErrRulePathLength,
	} {
		if err := CheckRulePath(path); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", path, err, want)
		}
	}
}
