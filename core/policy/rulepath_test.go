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
		"/~x", "/items:batch", "/{a.b-c_1}", "/orders/", "/reports/{id}.json", "/v1/{name}:undelete", "/v{n}/x",
		"/admin/**", "/**", "/files/{path...}", "/files/{path...}/", "/Orders({id})", "/a.{ext}",
		"/%20{id}", "/a[0]", "/x<y>", "/%24metadata", "/Orders(5)", "/a.b+c", "/messages/@original", "/a=b", "/a$b",
		"/%3Dx", "/c++", "/a...b", "/~user", "/_search", "/-/health", "/!x", "/@{user}",
	} {
		if err := CheckRulePath(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]error{
		"":                             ErrRulePathStart,
		"orders":                       ErrRulePathStart,
		"//":                           ErrRulePathSegment,
		"/orders//":                    ErrRulePathSegment,
		"//orders":                     ErrRulePathSegment,
		"/a/../b":                      ErrRulePathSegment,
		"/a/%2e":                       ErrRulePathSegment,
		"/a/{}":                        ErrRulePathTemplate,
		"/a/{}.json":                   ErrRulePathTemplate,
		"/{id}/{id}":                   ErrRulePathTemplate,
		"/{id}/{id...}":                ErrRulePathTemplate,
		"/{...}":                       ErrRulePathTemplate,
		"/{a b}":                       ErrRulePathTemplate,
		"/{a}{b}":                      ErrRulePathTemplate,
		"/{a}:{b}":                     ErrRulePathTemplate,
		"/{a":                          ErrRulePathTemplate,
		"/a}":                          ErrRulePathTemplate,
		"/{{a}}":                       ErrRulePathTemplate,
		"/{id:[0-9]}":                  ErrRulePathTemplate,
		"/{id?}":                       ErrRulePathTemplate,
		"/**/a":                        ErrRulePathSubtree,
		"/{path...}/a":                 ErrRulePathSubtree,
		"/admin/*":                     ErrRulePathWildcard,
		"/*":                           ErrRulePathWildcard,
		"/a/b*":                        ErrRulePathWildcard,
		"/a/b**":                       ErrRulePathWildcard,
		"/a/***":                       ErrRulePathWildcard,
		"/a/%2a":                       ErrRulePathWildcard,
		"/a/%2a%2A":                    ErrRulePathWildcard,
		"/{id}*":                       ErrRulePathWildcard,
		"/orders/:id":                  ErrRulePathWildcard,
		"/orders/%3Aid":                ErrRulePathWildcard,
		"/orders/:{id}":                ErrRulePathWildcard,
		"/orders/<id>":                 ErrRulePathWildcard,
		"/orders/[id]":                 ErrRulePathWildcard,
		"/orders/[id].json":            ErrRulePathWildcard,
		"/orders/[^/]":                 ErrRulePathWildcard,
		"/orders/.+":                   ErrRulePathWildcard,
		"/^orders":                     ErrRulePathWildcard,
		"/orders$":                     ErrRulePathWildcard,
		"/files/x{path...}":            ErrRulePathWildcard,
		"/files/{path...}.json":        ErrRulePathWildcard,
		"/files/{path+}":               ErrRulePathWildcard,
		"/files/{+path}":               ErrRulePathWildcard,
		"/files/{path*}":               ErrRulePathWildcard,
		"/a/%7Bid%7D":                  ErrRulePathWildcard,
		"/a/%7bid%7d.json":             ErrRulePathWildcard,
		"/a/{id}%7D":                   ErrRulePathWildcard,
		"/a/...":                       ErrRulePathWildcard,
		"/a/%2e..":                     ErrRulePathWildcard,
		"/a/…":                         ErrRulePathWildcard,
		"/a/rest...":                   ErrRulePathWildcard,
		"/a/+":                         ErrRulePathWildcard,
		"/a/%2B":                       ErrRulePathWildcard,
		"/a/>":                         ErrRulePathWildcard,
		"/a/$id":                       ErrRulePathSign,
		"/a/${id}":                     ErrRulePathSign,
		"/$metadata":                   ErrRulePathSign,
		"/a/=id":                       ErrRulePathSign,
		"/a{x}%2Fb":                    ErrRulePathCharacter,
		"/{x};v":                       ErrRulePathCharacter,
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

func TestRuleShape(t *testing.T) {
	alike := [][]string{
		{"/", "/"},
		{"/orders", "/orders/", "/%6Frders"},
		{"/orders/{id}", "/orders/{name}/"},
		{"/orders/{id}.json", "/orders/{x}%2Ejson"},
		{"/orders/v{id}", "/orders/%76{n}"},
		{"/orders/**", "/orders/{path...}", "/orders/{rest...}/"},
		{"/**", "/{all...}"},
		{"/%7Bid%7D"},
		{"/{id}"},
	}
	seen := map[string]string{}
	for _, paths := range alike {
		shape := RuleShape(paths[0])
		for _, path := range paths {
			if got := RuleShape(path); got != shape {
				t.Errorf("%s has the shape %q, and %s has %q", path, got, paths[0], shape)
			}
		}
		if other, have := seen[shape]; have {
			t.Errorf("%s and %s have the shape %q", other, paths[0], shape)
		}
		seen[shape] = paths[0]
	}
}
