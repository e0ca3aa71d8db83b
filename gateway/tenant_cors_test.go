package gateway_test

import (
	"net/http"
	"net/netip"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
)

const (
	acmePage   = "Origin: https://acme.example"
	globexPage = "Origin: https://globex.example"
)

// withTenantsCORS serves the tenants acme and globex, whose pages differ from those of the project.
func withTenantsCORS(own *snapshot.CORS) rigOption {
	return withProject(func(p *snapshot.Project) {
		p.CORS = own
		p.Tenants = append(p.Tenants,
			snapshot.Tenant{ID: "tnt_acme", Name: "acme", CORS: &snapshot.CORS{
				CORS: contract.CORS{
					Origins:        []string{"https://acme.example", "https://admin.acme.example"},
					Methods:        []string{"PUT"},
					ExposedHeaders: []string{"ETag"},
				},
			}},
			snapshot.Tenant{ID: "tnt_globex", Name: "globex", CORS: &snapshot.CORS{
				CORS: contract.CORS{
					Origins: []string{"https://globex.example", "https://admin.globex.example"},
					Methods: []string{"GET"},
				},
			}},
		)
		p.Versions[0].Rules = snapshot.Rules{Mode: snapshot.RulesEnforce, Default: snapshot.RulesAllow,
			List: []snapshot.Rule{
				{ID: "rul_1", Methods: []string{"GET"}, Path: "/secret", Scopes: []string{"secret"}},
			}}
	})
}

// Each caller's calls are answered by the settings of their tenant, and those of unknown callers by
// all of them.
func TestCORS_tenants(t *testing.T) {
	upstream := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "https://upstream.example")
	}
	const exposed = "\nAccess-Control-Expose-Headers: ETag\nVary: Origin"
	const allow = "Access-Control-Allow-Origin: "
	for _, tt := range []struct {
		name    string
		own     *snapshot.CORS
		key     string // tenant of the key, "": none, "-": a wrong key
		page    string
		path    string
		status  int
		want    string
		blocked bool // the key is used from another address
	}{
		{"acme, its page", &oneOrigin, "acme", acmePage, "/x", 200, allow + "https://acme.example" + exposed, false},
		{"acme, page of globex", &oneOrigin, "acme", globexPage, "/x", 200, exposed[1:], false},
		{"acme, page of the project", &oneOrigin, "acme", appPage, "/x", 200, exposed[1:], false},
		{
			"globex, its page", &oneOrigin, "globex", globexPage, "/x", 200,
			allow + "https://globex.example\nVary: Origin", false,
		},
		{"globex, page of acme", &oneOrigin, "globex", acmePage, "/x", 200, "Vary: Origin", false},
		{
			"a tenant without, page of acme", &oneOrigin, "default", acmePage, "/x", 200,
			allow + "https://app.example\nVary: Origin", false,
		},
		{
			"a tenant without, left to the upstream", nil, "default", acmePage, "/x", 200,
			allow + "https://upstream.example", false,
		},
		{"no key, page of acme", &oneOrigin, "", acmePage, "/x", 401, allow + "https://acme.example" + exposed, false},
		{
			"no key, page of globex", &oneOrigin, "", globexPage, "/x", 401,
			allow + "https://globex.example\nVary: Origin", false,
		},
		{"no key, left to the upstream", nil, "", acmePage, "/x", 401, allow + "https://acme.example" + exposed, false},
		{"a wrong key", &oneOrigin, "-", acmePage, "/x", 401, allow + "https://acme.example" + exposed, false},
		{"no key, another page", &oneOrigin, "", otherPage, "/x", 401, exposed[1:], false},
		{"refused by a rule", &oneOrigin, "globex", acmePage, "/secret", 403, "Vary: Origin", false},
		{
			"refused by a rule, its page", &oneOrigin, "acme", acmePage, "/secret", 403,
			allow + "https://acme.example" + exposed, false,
		},
		{"refused by address", &oneOrigin, "globex", acmePage, "/x", 403, "Vary: Origin", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				r := newRig(t, upstream, withTenantsCORS(tt.own), path)
				lines := []string{tt.page, noKey}
				switch tt.key {
				case "":
				case "default":
					lines = append(lines, "X-API-Key: "+r.key)
				case "-":
					lines = append(lines, "X-API-Key: "+mintUnknown(t))
				default:
					key := snapshot.Key{ID: "key_2", Owner: "billing", Tenant: tt.key, TenantID: "tnt_" + tt.key}
					if tt.blocked {
						key.AllowedIPs = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
					}
					lines = append(lines, "X-API-Key: "+r.mint("prod", key))
				}
				got := r.get("/shop/1.0.0/prod"+tt.path, lines...)
				if have := corsOf(got.Response); got.StatusCode != tt.status || have != tt.want {
					t.Errorf("%d:\n%s\nwant %d:\n%s", got.StatusCode, have, tt.status, tt.want)
				}
			})
		})
	}
}

// A preflight is answered by what the page's own tenant allows, although it has no key.
func TestPreflights_tenants(t *testing.T) {
	for page, want := range map[string]string{
		acmePage: "Access-Control-Allow-Methods: PUT\nAccess-Control-Allow-Origin: https://acme.example\nVary: " +
			"Origin",
		globexPage: "Access-Control-Allow-Methods: GET\nAccess-Control-Allow-Origin: https://globex.example\nVary: " +
			"Origin",
		appPage:   "Access-Control-Allow-Methods: GET\nAccess-Control-Allow-Origin: https://app.example\nVary: Origin",
		otherPage: "Access-Control-Allow-Methods: GET,PUT\nVary: Origin",
	} {
		t.Run(page, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				r := newRig(t, nil, withTenantsCORS(&oneOrigin), path)
				got := r.call("OPTIONS", "/shop/1.0.0/prod/x", page, "Access-Control-Request-Method: PUT", noKey)
				if have := corsOf(got.Response); got.StatusCode != 200 || have != want {
					t.Errorf("%d:\n%s\nwant:\n%s", got.StatusCode, have, want)
				}
			})
		})
	}
}
