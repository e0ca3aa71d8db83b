package policy_test

import (
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

// corsLines returns what a CORS sets, in the order of the names.
func corsLines(of func(set func(name, value string))) string {
	var lines []string
	of(func(name, value string) {
		lines = append(lines, strings.TrimPrefix(name, "Access-Control-")+": "+value)
	})
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func TestProjectCORS(t *testing.T) {
	const app, acme, globex = "https://app.example", "https://acme.example", "https://globex.example"
	own := &snapshot.CORS{CORS: contract.CORS{Origins: []string{app}, Methods: []string{"GET"}}}
	tenants := []snapshot.Tenant{
		{ID: "tnt_default"},
		{
			ID: "tnt_acme",
			CORS: &snapshot.CORS{
				CORS: contract.CORS{Origins: []string{acme, app}, Methods: []string{"PUT"}, Credentials: true},
			},
		},
		{ID: "tnt_globex", CORS: &snapshot.CORS{
			CORS: contract.CORS{Origins: []string{globex}, Methods: []string{"GET"}},
		}},
		{ID: "tnt_none", CORS: &snapshot.CORS{CORS: contract.CORS{AppOrigins: true}}},
		{ID: "tnt_left", CORS: &snapshot.CORS{
			CORS: contract.CORS{Origins: []string{"https://left.example"}},
		}, Detached: true},
	}
	const credentials = "Allow-Credentials: true; "
	const preflight = "Allow-Methods: "
	for _, tt := range []struct {
		name    string
		project *snapshot.CORS
		tenant  string // of the caller; "-": not known
		origin  string
		want    string // "": left to the upstream
	}{
		{"no tenant", own, "", app, "Allow-Origin: " + app + "; Vary: Origin"},
		{"a tenant without", own, "tnt_default", acme, "Allow-Origin: " + app + "; Vary: Origin"},
		{"a tenant without origins", own, "tnt_none", acme, "Allow-Origin: " + app + "; Vary: Origin"},
		{"a tenant that is not served", own, "tnt_left", acme, "Allow-Origin: " + app + "; Vary: Origin"},
		{
			"a tenant of several, allowed", own, "tnt_acme", acme,
			credentials + "Allow-Origin: " + acme + "; Vary: Origin",
		},
		{"a tenant of several, another's page", own, "tnt_acme", globex, credentials + "Vary: Origin"},
		{"a tenant of one", own, "tnt_globex", acme, "Allow-Origin: " + globex + "; Vary: Origin"},
		{"not set, no tenant", nil, "", app, ""},
		{"not set, a tenant", nil, "tnt_globex", app, "Allow-Origin: " + globex + "; Vary: Origin"},

		{"unknown, of one tenant", own, "-", globex, preflight + "GET; Allow-Origin: " + globex + "; Vary: Origin"},
		{
			"unknown, a default port", own, "-", globex + ":443",
			preflight + "GET; Allow-Origin: " + globex + "; Vary: Origin",
		},
		{
			"unknown, of the project and a tenant", own, "-", app,
			credentials + preflight + "GET,PUT; Allow-Origin: " + app + "; Vary: Origin",
		},
		{
			"unknown, of a tenant of several", own, "-", acme,
			credentials + preflight + "PUT; Allow-Origin: " + acme + "; Vary: Origin",
		},
		{"unknown, not allowed", own, "-", "https://left.example", credentials + preflight + "GET,PUT; Vary: Origin"},
		{
			"unknown, not set, of a tenant", nil, "-", globex, preflight + "GET; Allow-Origin: " + globex +
				"; Vary: Origin",
		},
		{
			"unknown, any of the project", &snapshot.CORS{
				CORS: contract.CORS{Origins: []string{"*"}, Methods: []string{"POST"}},
			}, "-",
			"https://other.example", preflight + "POST; Allow-Origin: *; Vary: Origin",
		},
		{
			"unknown, any of the project, with cookies",
			&snapshot.CORS{CORS: contract.CORS{Origins: []string{"*"}, Methods: []string{"POST"}}}, "-",
			acme, credentials + preflight + "PUT,POST; Allow-Origin: " + acme + "; Vary: Origin",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of := policy.NewProjectCORS(&snapshot.Project{CORS: tt.project, Tenants: tenants})
			have := ""
			if tt.tenant == "-" {
				have = corsLines(func(set func(name, value string)) {
					of.Unknown(tt.origin).Preflight(tt.origin, false, "", set)
				})
			} else if c := of.Of(tt.tenant); c != nil {
				have = corsLines(func(set func(name, value string)) { c.Lines(tt.origin, set) })
			}
			if have != tt.want {
				t.Errorf("%s\nwant %s", have, tt.want)
			}
		})
	}
}

func TestProjectCORS_withoutOverrides(t *testing.T) {
	if of := policy.NewProjectCORS(&snapshot.Project{Tenants: []snapshot.Tenant{{ID: "tnt_1"}}}); of != nil {
		t.Errorf("nothing set: %+v", of)
	}
	of := policy.NewProjectCORS(&snapshot.Project{CORS: &snapshot.CORS{CORS: contract.CORS{Origins: []string{"*"}}}})
	if of.Unknown("https://app.example") != of.Of("tnt_1") {
		t.Error("refusals are answered otherwise than calls")
	}
}

func TestProjectCORS_allocations(t *testing.T) {
	of := policy.NewProjectCORS(&snapshot.Project{Tenants: []snapshot.Tenant{
		{ID: "tnt_1", CORS: &snapshot.CORS{
			CORS: contract.CORS{Origins: []string{"https://acme.example"}, Methods: []string{"GET"}},
		}},
	}})
	count := 0
	set := func(string, string) { count++ }
	n := testing.AllocsPerRun(100, func() {
		of.Unknown("https://acme.example:443").Lines("https://acme.example:443", set)
		of.Of("tnt_1").Lines("https://acme.example", set)
	})
	if n != 0 || count == 0 {
		t.Errorf("%v allocations", n)
	}
}
