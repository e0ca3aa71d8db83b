package snapshot_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/snapshot"
)

func corsOf(origins ...string) *snapshot.CORS {
	return &snapshot.CORS{CORS: contract.CORS{Origins: origins, Methods: []string{"GET"}, Headers: []string{"X-Own"}}}
}

func tenantWith(c *snapshot.CORS) snapshot.Tenant { return snapshot.Tenant{CORS: c} }

func TestCORSUnion(t *testing.T) {
	const app, acme, globex = "https://app.example", "https://acme.example", "https://globex.example"
	own := corsOf(app)
	for _, tt := range []struct {
		name    string
		project *snapshot.CORS
		tenants []snapshot.Tenant
		want    *snapshot.CORS
	}{
		{"neither", nil, []snapshot.Tenant{{}}, nil},
		{"of the project alone", own, []snapshot.Tenant{{}}, own},
		{"of a tenant alone", nil, []snapshot.Tenant{tenantWith(own)}, own},
		{
			"without origins", &snapshot.CORS{CORS: contract.CORS{AppOrigins: true}},
			[]snapshot.Tenant{tenantWith(&snapshot.CORS{CORS: contract.CORS{AppOrigins: true}})}, nil,
		},
		{"of a tenant that is not served", own, []snapshot.Tenant{{CORS: corsOf(acme), Detached: true}}, own},
		{
			"of all",
			&snapshot.CORS{
				CORS: contract.CORS{
					Origins: []string{app},
					Methods: []string{"GET"},
					Headers: []string{"Content-Type"},
					MaxAge:  new(600),
				},
			},
			[]snapshot.Tenant{
				tenantWith(&snapshot.CORS{
					CORS: contract.CORS{
						Origins:        []string{acme, app},
						Methods:        []string{"PUT", "GET"},
						Headers:        []string{"content-type", "X-API-Key"},
						ExposedHeaders: []string{"ETag"},
						Credentials:    true,
						MaxAge:         new(60),
					},
				}),
				tenantWith(&snapshot.CORS{
					CORS: contract.CORS{
						AppOrigins:     true,
						Methods:        []string{"GET"},
						Headers:        []string{"*"},
						ExposedHeaders: []string{"*"},
					},
					FromApps: []string{globex},
				}),
			},
			&snapshot.CORS{
				CORS: contract.CORS{
					Origins:        []string{app, acme, globex},
					AppOrigins:     true,
					Methods:        []string{"GET", "PUT"},
					Headers:        []string{"Content-Type", "X-API-Key", "*"},
					ExposedHeaders: []string{"ETag", "*"},
					Credentials:    true,
					MaxAge:         new(60),
				},
			},
		},
		{
			"with one of every origin",
			corsOf("*"),
			[]snapshot.Tenant{
				tenantWith(&snapshot.CORS{
					CORS: contract.CORS{Origins: []string{acme}, Methods: []string{"GET"}, Credentials: true},
				}),
			},
			&snapshot.CORS{CORS: contract.CORS{Origins: []string{"*"}, Methods: []string{"GET"}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &snapshot.Project{CORS: tt.project, Tenants: tt.tenants}
			if diff := cmp.Diff(tt.want, p.CORSUnion()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCORSByOrigin(t *testing.T) {
	const app, acme = "https://app.example", "https://acme.example"
	put := &snapshot.CORS{CORS: contract.CORS{Origins: []string{acme}, Methods: []string{"PUT"}, Credentials: true}}
	for _, tt := range []struct {
		name    string
		project *snapshot.CORS
		named   map[string]*snapshot.CORS
		others  *snapshot.CORS
	}{
		{
			"each its own", corsOf(app), map[string]*snapshot.CORS{app: corsOf(app), acme: put},
			&snapshot.CORS{CORS: contract.CORS{Methods: []string{"GET", "PUT"}, Credentials: true}},
		},
		{
			"shared", corsOf(app, acme), map[string]*snapshot.CORS{
				app: corsOf(app),
				acme: {CORS: contract.CORS{
					Origins: []string{acme}, Methods: []string{"GET", "PUT"}, Credentials: true,
				}},
			},
			&snapshot.CORS{CORS: contract.CORS{Methods: []string{"GET", "PUT"}, Credentials: true}},
		},
		{
			"any", corsOf("*"), map[string]*snapshot.CORS{
				acme: {CORS: contract.CORS{
					Origins: []string{acme}, Methods: []string{"PUT", "GET"}, Credentials: true,
				}},
			},
			corsOf("*"),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &snapshot.Project{CORS: tt.project, Tenants: []snapshot.Tenant{tenantWith(put)}}
			named, others := p.CORSByOrigin()
			if diff := cmp.Diff(tt.named, named); diff != "" {
				t.Errorf("named (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.others, others); diff != "" {
				t.Errorf("others (-want +got):\n%s", diff)
			}
			if !slices.Equal(put.Origins, []string{acme}) {
				t.Error("the tenant's own was changed")
			}
		})
	}
}
