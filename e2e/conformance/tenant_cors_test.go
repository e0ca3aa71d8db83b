//go:build conformance

package conformance

import (
	"slices"
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// The pages of the project, of its tenants and of others.
const (
	ownPage    = "https://app.example"
	acmePage   = "https://acme.example"
	globexPage = "https://globex.example"
	otherPage  = "https://other.example"
)

// tenantCORSProject serves the tenants acme and globex. The settings differ in origins alone.
func tenantCORSProject(up *upstream, own ...string) (*snapshot.Project, map[string]sample.Plain) {
	project, keys := sample.Fresh(up.url, sample.RequiresKeys())
	of := func(origins ...string) *snapshot.CORS {
		return &snapshot.CORS{CORS: contract.CORS{Origins: origins, Methods: []string{"GET", "PUT"}, MaxAge: new(60)}}
	}
	project.CORS = of(own...)
	project.Tenants = []snapshot.Tenant{
		{ID: "tnt_2", Name: "acme", CORS: of(acmePage, "https://admin.acme.example")},
		{ID: "tnt_1", Name: snapshot.DefaultTenant},
		{ID: "tnt_4", Name: "globex", CORS: of(globexPage, "https://admin.globex.example")},
	}
	keys["acme"] = sample.Keys()["acme"]
	globex := sample.Keys()["readonly"]
	globex.TenantID, globex.Tenant = "tnt_4", "globex"
	keys["globex"] = globex
	return project, keys
}

// Kong's plugin does not know the caller's tenant: every page that one of them allows may read the
// answers to all callers. Preflights, refusals and pages of the caller's own tenant are equal.
func TestConformanceTenantCORS(t *testing.T) {
	up := newUpstream(t)
	project, keys := tenantCORSProject(up, ownPage, "http://localhost:3000")
	folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, folder, up)
	home := map[string]string{"active": ownPage, "acme": acmePage, "globex": globexPage}
	const asked = "Access-Control-Request-Method: PUT"
	var cases []Case
	for _, page := range []string{ownPage, acmePage, globexPage, otherPage, "http://localhost:3000", "null"} {
		line := "Origin: " + page
		cases = append(cases,
			one("preflight of "+page, "OPTIONS", projectHost, prod+"/x", line, asked),
			one("preflight with headers of "+page, "OPTIONS", projectHost, prod+"/x", line, asked,
				"Access-Control-Request-Headers: x-api-key"),
			get("no key, "+page, prod+"/x", line),
			get("a wrong key, "+page, prod+"/x", line, "X-API-Key: none"))
		for name, own := range home {
			c := get(name+", "+page, prod+"/x", line, key(keys[name]))
			if slices.Contains([]string{ownPage, acmePage, globexPage}, page) && page != own ||
				page == "http://localhost:3000" && name != "active" {
				c = differs([]Case{c}, TenantOrigins)[0]
			}
			cases = append(cases, c)
		}
	}
	run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
	for _, page := range []string{ownPage, acmePage, globexPage} {
		for name := range home {
			got := kong.send(get(name, prod+"/x", "Origin: "+page, key(keys[name])))
			if origin := got.Answer.Get("Access-Control-Allow-Origin"); origin != page {
				t.Errorf("Kong allows %q a call with the key %s, want %s", origin, name, page)
			}
		}
	}
}

// If the project allows every page, Kong allows every page for all tenants, without cookies.
func TestConformanceTenantCORS_anyOrigin(t *testing.T) {
	up := newUpstream(t)
	project, keys := tenantCORSProject(up, "*")
	project.Tenants[0].CORS.Credentials = true
	folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, folder, up)
	other := "Origin: " + otherPage
	run(t, []Case{
		get("active, another page", prod+"/x", other, key(keys["active"])),
		differs([]Case{get("acme, another page", prod+"/x", other, key(keys["acme"]))}, AnyTenantOrigin)[0],
		differs([]Case{get("acme, its page", prod+"/x", "Origin: "+acmePage, key(keys["acme"]))}, AnyTenantOrigin)[0],
	}, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
	got := kong.send(get("acme", prod+"/x", other, key(keys["acme"]))).Answer
	origin, cookies := got.Get("Access-Control-Allow-Origin"), got.Get("Access-Control-Allow-Credentials")
	if origin != "*" || cookies != "" {
		t.Errorf("Kong allows %q, with cookies: %q", origin, cookies)
	}
}
