//go:build conformance

package conformance

import (
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// The hosts of domainsProject: one whose calls are all taken, and one with domains for some.
const (
	wholeHost = "whole.shop.example"
	partHost  = "part.shop.example"
)

// domainsProject has custom domains with path prefixes and methods, and rules that see what is left of the path.
func domainsProject(up *upstream) *snapshot.Project {
	project := Project(up)
	project.CORS = &snapshot.CORS{CORS: contract.CORS{
		Origins: []string{"https://app.example"}, Methods: []string{"GET"},
	}}
	version := &project.Versions[0]
	version.Rules = snapshot.Rules{List: []snapshot.Rule{
		{ID: "rul_1", Methods: []string{"GET"}, Path: "/staff", Scopes: []string{"never"}},
		{ID: "rul_2", Methods: []string{"GET"}, Path: "/orders/archive/staff", Scopes: []string{"never"}},
	}}
	dev, prod := &version.Environments[0], &version.Environments[1]
	prod.Domains = []snapshot.Domain{
		sample.DomainAt(partHost, "/a.b$(c)", "GET", "OPTIONS"),
		sample.DomainAt(partHost, "/1.0.0"),
		sample.DomainAt(wholeHost, ""),
		sample.Kept(sample.DomainAt(wholeHost, "/orders/archive")),
		sample.DomainAt(wholeHost, "/o", "GET", "POST"),
	}
	dev.Domains = []snapshot.Domain{
		sample.DomainAt(partHost, "/orders", "GET"),
		sample.DomainAt(partHost, "/orders/new"),
		sample.DomainAt(wholeHost, "/orders"),
		sample.DomainAt(wholeHost, "/orders/new", "POST", "PURGE"),
	}
	return project
}

// Custom domains share a host by path prefixes and methods: the same one takes a call, and the same is left of it.
func TestConformanceDomains(t *testing.T) {
	up := newUpstream(t)
	project, keys := domainsProject(up), Keys()
	folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, folder, up)
	k := key(keys["allenvs"])
	var cases []Case
	for _, host := range []string{wholeHost, "WHOLE.shop.example.:8443", partHost} {
		for _, method := range []string{"GET", "POST", "PUT", "HEAD", "OPTIONS", "PURGE"} {
			for _, path := range []string{
				"/", "/x", "/orders", "/orders/", "/orders/42", "/ordersx", "/Orders", "//orders//42?x=1",
				"/x/../orders/7",
				"/%6frders/%41", "/orders%2f42", "/orders/4%2F2", "/orders;x=1/42", "/orders/archive",
				"/orders/archive/1",
				"/orders/archive/staff", "/orders/archivex", "/orders/new", "/orders/new/1", "/orders/staff", "/staff",
				"/o", "/o/1", "/o/staff", "/a.b$(c)/x", "/a.b%24(c)/x", "/axb$(c)/x", "/1.0.0/prod/x", "/1x0.0/x",
				"/shop/1.0.0/prod/x", "/orders/é",
			} {
				cases = append(cases, one(method+" "+host+path, method, host, path, k, "Content-Length: 0"))
			}
		}
		cases = append(cases,
			one("no key at "+host, "GET", host, "/orders/42"),
			one("no key at the rest of "+host, "GET", host, "/x"),
			one("hidden dot segment at "+host, "GET", host, "/orders/..%2fx", k),
			one("preflight at "+host, "OPTIONS", host, "/orders/42", "Origin: https://app.example",
				"Access-Control-Request-Method: GET"),
			one("preflight of a prefix at "+host, "OPTIONS", host, "/a.b$(c)/x", "Origin: https://app.example",
				"Access-Control-Request-Method: GET"),
			one("preflight of the rest at "+host, "OPTIONS", host, "/shop/1.0.0/prod/x", "Origin: https://app.example",
				"Access-Control-Request-Method: GET"))
	}
	cases = append(cases, one("the environment's own address", "GET", projectHost, prod+"/orders/42", k))
	statuses := run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
	t.Logf("%d requests: %v", len(cases), statuses)
}
