package projects_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/state"
)

// namedTargets refuses addresses by their host name, as a guard does.
type namedTargets struct{}

func (namedTargets) CheckTarget(_ context.Context, raw string) (*url.URL, error) {
	switch {
	case strings.Contains(raw, "private"):
		return nil, fault.New(fault.Invalid, egress.CodeForbidden, "not public")
	case strings.Contains(raw, "unknown"):
		return nil, fault.New(fault.Invalid, egress.CodeUnresolvable, "no address")
	}
	return url.Parse(raw)
}

func TestUpdateAccess_issuerAddresses(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		kept := snapshot.TokenIssuer{Issuer: "https://unknown.example", Audience: "kept"}
		created, owner := w.create(t, projects.CreateInput{
			Target: "https://api.example.com",
			Auth: contract.NewRequestsAuth{
				Mode:    "authenticate",
				Methods: []string{"jwt"},
				JWT:     &contract.JWT{AllowedPairs: []snapshot.TokenIssuer{kept}},
			},
		})
		w.Targets = namedTargets{}
		for _, tc := range []struct {
			name, iss, jwksURL, want string
		}{
			{"public issuer", "https://public.example", "", ""},
			{"private issuer", "https://private.example", "", "/iss target_forbidden"},
			{
				"private issuer with a public jwks_url",
				"https://private.example",
				"https://public.example/k",
				"/iss target_forbidden",
			},
			{"issuer without an address", "https://unknown.example", "", "/iss target_unresolvable"},
			{"issuer without an address with a jwks_url", "https://unknown.example", "https://public.example/k", ""},
			{"private jwks_url", "https://public.example", "https://private.example/k", "/jwks_url target_forbidden"},
			{
				"jwks_url without an address",
				"https://public.example",
				"https://unknown.example/k",
				"/jwks_url target_unresolvable",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				issuers := []snapshot.TokenIssuer{kept, {Issuer: tc.iss, JWKSURL: tc.jwksURL, Audience: "x"}}
				change := contract.RequestsAuthChange{JWT: &contract.JWT{AllowedPairs: issuers}}
				_, err := w.UpdateVersion(t.Context(), owner, contract.VersionChange{RequestsAuth: change}.Of(
					created.Project.ID, created.Project.Versions[0].ID,
				))
				var got string
				if refusal, ok := errors.AsType[*fault.Error](err); ok && len(refusal.Fields) == 1 {
					field := refusal.Fields[0]
					got = strings.TrimPrefix(field.Pointer, "/requests_auth/jwt/allowed_pairs/1") + " " + field.Code
				} else if err != nil {
					t.Fatal(err)
				}
				if got != tc.want {
					t.Errorf("refused %q, want %q", got, tc.want)
				}
			})
		}
	})
}

func TestCreate_environmentsWithoutTarget(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for _, tc := range []struct {
			name         string
			environments map[string]string
			project      string // empty: refused
		}{
			{"each has one", map[string]string{
				"dev":  "https://dev.example.com",
				"prod": "https://api.example.com",
			}, "api-example-com"},
			{"none is called prod", map[string]string{
				"b1": "https://b.example.com",
				"a1": "https://a.example.com",
			}, "a-example-com"},
			{"one is empty", map[string]string{"dev": "", "prod": "https://api.example.com"}, ""},
			{"none at all", nil, ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				input := projects.CreateInput{Environments: targets(tc.environments)}
				created, err := w.Create(t.Context(), access.Principal{}, input)
				if (err == nil) != (tc.project != "") || created.Project.Name != tc.project {
					t.Errorf("project %q, %v, want %q", created.Project.Name, err, tc.project)
				}
			})
		}
	})
}
