package federation_test

import (
	"slices"
	"strings"
	"testing"

	"postern/platform/federation"
)

func TestParseClaimPath(t *testing.T) {
	for text, want := range map[string][]string{
		"groups":                        {"groups"},
		"realm_access.roles":            {"realm_access", "roles"},
		`resource_access.my\.app.roles`: {"resource_access", "my.app", "roles"},
		`back\\slash`:                   {`back\slash`},
		`other\escape`:                  {`other\escape`},
		"https://example.com/roles":     {"https://example.com/roles"},
		"urn:zitadel:iam":               {"urn:zitadel:iam"},
	} {
		t.Run(text, func(t *testing.T) {
			path, err := federation.ParseClaimPath(text)
			if err != nil || !slices.Equal(path, want) {
				t.Errorf("%q, %v, want %q", path, err, want)
			}
		})
	}
	for name, text := range map[string]string{
		"empty":            "",
		"no first name":    ".roles",
		"no last name":     "roles.",
		"no middle name":   "a..b",
		"a new line":       "a\nb",
		"too long":         strings.Repeat("a", 201),
		"too many names":   "a.b.c.d.e.f.g.h.i.j.k",
		"not UTF-8":        "a\xff",
		"a control letter": "a\x7fb",
	} {
		t.Run(name, func(t *testing.T) {
			if path, err := federation.ParseClaimPath(text); err == nil {
				t.Errorf("%q is the path %q", text, path)
			}
		})
	}
}

func TestClaimSet_find(t *testing.T) {
	set := federation.Stated([]byte(`{"sub": "ana", "groups": ["sales", "it", 7, {"x": 1}, null, true],
		"realm_access": {"roles": ["admin"]}, "level": 9007199254740993, "vip": false, "nothing": null,
		"flat.name": "flat", "object": {"a": 1}, "long": ["` + strings.Repeat("x", 1001) + `", "short"],
		"_claim_names": {"teams": "src1"}, "hasgroups": true}`)).
		And(federation.Stated([]byte(`{"sub": "other", "department": "sales", "realm_access": {"x": 1}}`)))
	for path, want := range map[string]federation.Finding{
		"sub":                {Values: []string{"ana"}, Stated: true},
		"groups":             {Values: []string{"sales", "it", "7", "true"}, Stated: true},
		"realm_access.roles": {Values: []string{"admin"}, Stated: true},
		"realm_access.x":     {Values: []string{"1"}, Stated: true},
		"realm_access":       {Stated: true},
		"level":              {Values: []string{"9007199254740993"}, Stated: true},
		"vip":                {Values: []string{"false"}, Stated: true},
		"nothing":            {},
		"flat.name":          {},
		`flat\.name`:         {Values: []string{"flat"}, Stated: true},
		"sub.inner":          {},
		"groups.0":           {},
		"long":               {Values: []string{"short"}, Stated: true},
		"department":         {Values: []string{"sales"}, Stated: true},
		"teams":              {Withheld: true},
		"absent":             {},
	} {
		t.Run(path, func(t *testing.T) {
			at, err := federation.ParseClaimPath(path)
			if err != nil {
				t.Fatal(err)
			}
			got := set.Find(at)
			if !slices.Equal(got.Values, want.Values) || got.Stated != want.Stated || got.Withheld != want.Withheld {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	t.Run("groups by the implicit flow", func(t *testing.T) {
		if got := federation.Stated([]byte(`{"hasgroups": true}`)).Find(federation.ClaimPath{"groups"}); !got.Withheld {
			t.Errorf("%+v is not withheld", got)
		}
	})
	t.Run("no object", func(t *testing.T) {
		if got := federation.Stated([]byte(`["groups"]`)).Find(federation.ClaimPath{"groups"}); got.Stated {
			t.Errorf("%+v is stated", got)
		}
	})
}
