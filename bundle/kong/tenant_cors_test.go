package kong

import (
	"slices"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
)

func TestJudgeTenantCORS(t *testing.T) {
	const app, acme = "https://app.example", "https://acme.example"
	of := func(origins ...string) *snapshot.CORS {
		return &snapshot.CORS{CORS: contract.CORS{Origins: origins, Methods: []string{"GET"}}}
	}
	unused := &snapshot.CORS{CORS: contract.CORS{AppOrigins: true}}
	for _, tt := range []struct {
		name         string
		own          *snapshot.CORS
		tenant       snapshot.Tenant
		project, its string // reasons; project: "" for the first fate
		origins      []string
	}{
		{"both", of(app), snapshot.Tenant{CORS: of(acme)}, "tenants", "union", []string{app, acme}},
		{"any of the project", of("*"), snapshot.Tenant{CORS: of(acme)}, "tenants", "any_origin", []string{"*"}},
		{"any of the tenant", of(app), snapshot.Tenant{CORS: of("*")}, "tenants", "any_origin", []string{"*"}},
		{"without origins", of(app), snapshot.Tenant{CORS: unused}, "", "unused", []string{app}},
		{"the tenant alone", unused, snapshot.Tenant{CORS: of(acme)}, "unused", "union", []string{acme}},
		{"neither", unused, snapshot.Tenant{CORS: unused}, "unused", "unused", nil},
		{"not served", of(app), snapshot.Tenant{CORS: of(acme), Detached: true}, "", "detached", []string{app}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &snapshot.Project{CORS: tt.own, Tenants: []snapshot.Tenant{tt.tenant}}
			if got := judgeCORS(p).Reason; got != tt.project {
				t.Errorf("the project: %q, want %q", got, tt.project)
			}
			got := judgeTenantCORS(p, &p.Tenants[0])
			if got.Reason != tt.its {
				t.Errorf("the tenant: %q, want %q", got.Reason, tt.its)
			}
			if served := tt.its == "union" || tt.its == "any_origin"; served != (got.Target != nil) {
				t.Errorf("target %v", got.Target)
			}
			plugins := corsOf(p)
			if tt.origins == nil {
				if plugins != nil {
					t.Errorf("plugins %v", plugins)
				}
				return
			}
			if have := plugins[0].Config.(corsConfig).Origins; !slices.Equal(have, tt.origins) {
				t.Errorf("origins %v, want %v", have, tt.origins)
			}
		})
	}
}
