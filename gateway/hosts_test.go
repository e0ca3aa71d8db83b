package gateway_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit/sample"
)

// ownHost is the host name that the rig's customer has for the environment prod.
const ownHost = "api.example.com"

func onEngine(*rig, *gateway.Options) {}

func TestHostNames(t *testing.T) {
	for path, option := range map[string]rigOption{"engine": onEngine, "net/http": onNetHTTP} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, withMode(snapshot.Passthrough), option)
			for _, tc := range []struct{ name, host, path, want string }{ // want "": no route
				{"name", ownHost, "/a", "/base/a"},
				{"upper case", "API.Example.COM", "/a", "/base/a"},
				{"trailing dot", ownHost + ".", "/a", "/base/a"},
				{"port", ownHost + ":8443", "/a", "/base/a"},
				{"trailing dot and port", ownHost + ".:443", "/a", "/base/a"},
				{"root", ownHost, "/", "/base"},
				{"root with a query", ownHost, "/?x=1", "/base?x=1"},
				{"slash at the end", ownHost, "/a/", "/base/a/"},
				{"absolute form", ownHost, "http://" + ownHost + "/a?x=1", "/base/a?x=1"},
				{"absolute form without a path", ownHost, "http://" + ownHost, "/base"},
				{"normalized", ownHost, "//a/./b/../%63", "/base/a/c"},
				{"version and environment are the upstream's", ownHost, "/1.0.0/prod/a", "/base/1.0.0/prod/a"},
				{"project, version and environment too", ownHost, "/shop/1.0.0/dev", "/base/shop/1.0.0/dev"},
				{"a probe's path is the upstream's", ownHost, "/healthz", "/base/healthz"},
				{"the project's own address", "shop.proxy.test", "/1.0.0/prod/a", "/base/a"},
				{"below it", "x." + ownHost, "/a", ""},
				{"above it", "example.com", "/a", ""},
				{"two trailing dots", ownHost + "..", "/a", ""},
			} {
				t.Run(tc.name, func(t *testing.T) {
					before := len(r.upstreamCalls())
					got := r.raw(request("GET", tc.path, tc.host))
					calls := r.upstreamCalls()[before:]
					switch {
					case tc.want == "":
						r.wantCode(tc.name, got, http.StatusNotFound, "no_route")
					case len(calls) != 1 || calls[0].uri != tc.want:
						t.Errorf("%d %s; the upstream got %v, want %s", got.StatusCode, got.body, calls, tc.want)
					}
				})
			}
			r.wantCode("hidden dot segment", r.raw(request("GET", "/a/..%2f..", ownHost)), 400, "bad_path")
		})
	}
}

// The upstream gets the name that the caller used, and no prefix: the set that Kong sends for a route with hosts and
// the path /.
func TestHostNames_upstream(t *testing.T) {
	for path, option := range map[string]rigOption{"engine": onEngine, "net/http": onNetHTTP} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, option)
			r.wantCode("no key", r.raw(request("GET", "/a", ownHost)), 401, "credentials_required")
			lines := []string{"X-API-Key: " + r.key, "X-Forwarded-Prefix: /evil", "X-Forwarded-Host: evil.example"}
			got := r.raw(request("GET", "/a?x=1", "API.example.com.:8443", lines...))
			if got.StatusCode != http.StatusOK {
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
			h := r.lastCall().header
			if lines := h["X-Forwarded-Prefix"]; lines != nil {
				t.Errorf("X-Forwarded-Prefix %q", lines)
			}
			if got := h["X-Forwarded-Host"]; !slices.Equal(got, []string{ownHost}) {
				t.Errorf("X-Forwarded-Host %q", got)
			}
			if got := h["X-Forwarded-Path"]; !slices.Equal(got, []string{"/a"}) {
				t.Errorf("X-Forwarded-Path %q", got)
			}
		})
	}
}

func TestHostNames_http2(t *testing.T) {
	r := newRig(t, nil, overTLS(newPair(t)))
	conn := r.dialHTTP2(t)
	fields := pseudo(r.key)
	fields[slices.Index(fields, "shop.proxy.test")] = strings.ToUpper(ownHost) + ":443"
	if got := conn.outcome(conn.send(true, fields...)); got != "200" {
		t.Errorf("outcome %s", got)
	}
	if got := r.lastCall(); got.uri != "/base/1.0.0/prod/a" {
		t.Errorf("the upstream got %s", got.uri)
	}
}

func TestHostNames_published(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	if !r.gateway.Serves(ownHost) || r.gateway.Serves("other.example.com") {
		t.Error("Serves")
	}
	newer := *r.project
	newer.ID, newer.Name, newer.Revision = "prj_books", "books", 2
	newer.Versions = []snapshot.Version{{
		ID:   "ver_2",
		Name: "1.0.0",
		Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
			Mode: snapshot.Passthrough, Keyless: snapshot.Reject,
		}},
		Environments: []snapshot.Environment{{
			ID:      "env_books",
			Name:    "prod",
			Target:  r.project.Versions[0].Environments[0].Target + "/books",
			Domains: sample.Domains(ownHost),
		}},
	}}
	for _, all := range [][]*snapshot.Project{{r.project, &newer}, {&newer, r.project}} {
		if err := r.gateway.Publish(all); err != nil {
			t.Fatal(err)
		}
		r.raw(request("GET", "/a", ownHost))
		calls := r.upstreamCalls()
		if got := calls[len(calls)-1].uri; got != "/books/a" {
			t.Errorf("the upstream got %s: the project that was changed last has the name", got)
		}
	}
	without := *r.project
	without.Versions = slices.Clone(without.Versions)
	without.Versions[0].Environments = slices.Clone(without.Versions[0].Environments)
	without.Versions[0].Environments[1].Domains = nil
	if err := r.gateway.Publish([]*snapshot.Project{&without}); err != nil {
		t.Fatal(err)
	}
	r.wantCode("after its removal", r.raw(request("GET", "/a", ownHost)), 404, "no_route")
	if got := r.gateway.Hosts(); len(got) != 0 {
		t.Errorf("hosts %v", got)
	}
}

// severalDomains gives the rig's project several custom domains with one host name, and another project of its team
// one more.
func severalDomains(r *rig, _ *gateway.Options) {
	environments := r.project.Versions[0].Environments
	base := strings.TrimSuffix(environments[1].Target, "/base")
	environments[1].Domains = []snapshot.Domain{
		sample.DomainAt(ownHost, ""),
		sample.DomainAt(ownHost, "/orders"),
		sample.Kept(sample.DomainAt(ownHost, "/orders/archive")),
		sample.DomainAt(ownHost, "/o", http.MethodPost),
		sample.DomainAt("only.example.com", "/orders", http.MethodGet),
	}
	for i := range environments[1].Domains { // each has its own environment, which the upstream sees
		one := environments[1]
		one.ID, one.Name = fmt.Sprint("env_", i), fmt.Sprint("on-", i)
		one.Target = fmt.Sprintf("%s/%d", base, i)
		one.Domains = environments[1].Domains[i : i+1]
		r.project.Versions[0].Environments = append(r.project.Versions[0].Environments, one)
	}
	environments = r.project.Versions[0].Environments
	environments[1].Domains = nil
	r.others = append(r.others, &snapshot.Project{
		ID: "prj_books", Name: "books", Tenants: r.project.Tenants,
		Versions: []snapshot.Version{{ID: "ver_books", Name: "1.0.0",
			Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode: snapshot.Passthrough, Keyless: snapshot.Reject,
			}},
			Environments: []snapshot.Environment{{
				ID: "env_books", Name: "prod", Target: base + "/books",
				Domains: []snapshot.Domain{
					sample.DomainAt(ownHost, "/books"),
					sample.DomainAt(ownHost, "/orders", http.MethodDelete, http.MethodPost),
				},
			}},
		}},
	})
}

// prefixCases are calls to the hosts of severalDomains. An empty want means that no domain takes the call.
var prefixCases = []struct{ name, method, host, path, want string }{
	{"the whole host", "GET", ownHost, "/a", "/0/a"},
	{"a prefix", "GET", ownHost, "/orders/42?x=%2F", "/1/42?x=%2F"},
	{"the prefix itself", "GET", ownHost, "/orders", "/1"},
	{"the prefix with a slash", "GET", ownHost, "/orders/", "/1/"},
	{"not a whole segment", "GET", ownHost, "/ordersx/42", "/0/ordersx/42"},
	{"another case", "GET", ownHost, "/Orders/42", "/0/Orders/42"},
	{"the longest prefix, which stays", "GET", ownHost, "/orders/archive/1", "/2/orders/archive/1"},
	{"it itself", "GET", ownHost, "/orders/archive", "/2/orders/archive"},
	{"methods before the longest prefix", "POST", ownHost, "/orders/archive/1", "/books/archive/1"},
	{"the longest prefix of those with methods", "POST", ownHost, "/o/1", "/3/1"},
	{"a method of none", "GET", ownHost, "/o/1", "/0/o/1"},
	{"another project", "GET", ownHost, "/books/1", "/books/1"},
	{"another project, by its methods", "DELETE", ownHost, "/orders/42", "/books/42"},
	{"dot segments", "GET", ownHost, "/a/../orders/./42", "/1/42"},
	{"out of the prefix", "GET", ownHost, "/orders/../a", "/0/a"},
	{"repeated slashes", "GET", ownHost, "//orders//42", "/1/42"},
	{"escaped letters", "GET", ownHost, "/%6frders/%34%32", "/1/42"},
	{"an escaped slash is part of a segment", "GET", ownHost, "/orders%2f42", "/0/orders%2F42"},
	{"an escaped slash below the prefix", "GET", ownHost, "/orders/4%2f2", "/1/4%2F2"},
	{"a parameter is part of a segment", "GET", ownHost, "/orders;x/42", "/0/orders;x/42"},
	{"a host without a rest", "GET", "only.example.com", "/orders/1", "/4/1"},
	{"its other paths", "GET", "only.example.com", "/", ""},
	{"its other methods", "PUT", "only.example.com", "/orders/1", ""},
	{"HEAD is not in GET", "HEAD", "only.example.com", "/orders/1", ""},
	{"nor is OPTIONS", "OPTIONS", "only.example.com", "/orders/1", ""},
	{"the project's own address", "GET", "shop.proxy.test", "/1.0.0/on-1/orders/1", "/1/orders/1"},
}

func TestHostNames_prefixes(t *testing.T) {
	for path, option := range map[string]rigOption{"engine": onEngine, "net/http": onNetHTTP} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, withMode(snapshot.Passthrough), severalDomains, option)
			for _, tc := range prefixCases {
				t.Run(tc.name, func(t *testing.T) {
					before := len(r.upstreamCalls())
					got := r.raw(request(tc.method, tc.path, tc.host, "Content-Length: 0"))
					calls := r.upstreamCalls()[before:]
					switch {
					case tc.want == "" && (got.StatusCode != http.StatusNotFound || len(calls) > 0):
						t.Errorf("%d %s; the upstream got %v, want 404", got.StatusCode, got.body, calls)
					case tc.want != "" && (len(calls) != 1 || calls[0].uri != tc.want):
						t.Errorf("%d %s; the upstream got %v, want %s", got.StatusCode, got.body, calls, tc.want)
					}
				})
			}
			for _, path := range []string{"/orders/..%2fa", "/orders%2f..%2fa", "/orders/%252e%252e/a", "/orders/..;/a",
				"/orders/..%5ca"} {
				r.wantCode(path, r.raw(request("GET", path, ownHost)), 400, "bad_path")
			}
		})
	}
}

func TestHostNames_prefixesHTTP2(t *testing.T) {
	r := newRig(t, nil, overTLS(newPair(t)), withMode(snapshot.Passthrough), severalDomains)
	conn := r.dialHTTP2(t)
	for _, tc := range prefixCases {
		if tc.method == "POST" { // pseudo has no length
			continue
		}
		before := len(r.upstreamCalls())
		fields := pseudo(r.key)
		fields[slices.Index(fields, "shop.proxy.test")] = tc.host
		fields[slices.Index(fields, ":path")+1] = tc.path
		fields[slices.Index(fields, ":method")+1] = tc.method
		got, calls := conn.outcome(conn.send(true, fields...)), r.upstreamCalls()[before:]
		if tc.want == "" && (got != "404" || len(calls) > 0) ||
			tc.want != "" && (len(calls) != 1 || calls[0].uri != tc.want) {
			t.Errorf("%s: %s; the upstream got %v, want %q", tc.name, got, calls, tc.want)
		}
	}
}

// What is removed from the path is told as for an environment's own prefix.
func TestHostNames_prefixUpstream(t *testing.T) {
	for path, option := range map[string]rigOption{"engine": onEngine, "net/http": onNetHTTP} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, withMode(snapshot.Passthrough), severalDomains, option)
			for path, want := range map[string][]string{
				"/orders/42": {"/orders/"}, "/orders": {"/orders"}, "/orders/archive/1": nil, "/a": nil,
			} {
				before := len(r.upstreamCalls())
				r.raw(request("GET", path, ownHost, "X-Forwarded-Prefix: /evil"))
				calls := r.upstreamCalls()[before:]
				if len(calls) != 1 || !slices.Equal(calls[0].header["X-Forwarded-Prefix"], want) ||
					calls[0].header.Get("X-Forwarded-Path") != path {
					t.Errorf("%s: the upstream got %v, want the prefix %q", path, calls, want)
				}
			}
		})
	}
}

// Rules are matched with the path that is forwarded.
func TestHostNames_prefixRules(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough), severalDomains, withProject(func(p *snapshot.Project) {
		p.Versions[0].Rules = snapshot.Rules{Default: snapshot.RulesDeny, List: []snapshot.Rule{
			{ID: "rul_1", Methods: []string{"GET"}, Path: "/open"},
			{ID: "rul_2", Methods: []string{"GET"}, Path: "/orders/archive/open"},
		}}
	}))
	for path, want := range map[string]int{
		"/open": 200, "/orders/open": 200, "/orders/orders/open": 403, "/orders/archive/open": 200,
		"/orders/archive/other": 403, "/orders/archive/orders/archive/open": 403,
	} {
		if got := r.raw(request("GET", path, ownHost)); got.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", path, got.StatusCode, got.body, want)
		}
	}
}

// A snapshot that is kept from before a team lost a host name must not serve a part of it.
func TestHostNames_twoTeams(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough), severalDomains)
	old, owner := *r.project, *r.others[0]
	old.TeamID, old.Revision, owner.TeamID, owner.Revision = "team_old", 1, "team_new", 2
	for _, all := range [][]*snapshot.Project{{&old, &owner}, {&owner, &old}} {
		if err := r.gateway.Publish(all); err != nil {
			t.Fatal(err)
		}
		r.wantCode("the earlier team", r.raw(request("GET", "/a", ownHost)), 404, "no_route")
		if got := r.raw(request("GET", "/books/1", ownHost)); got.StatusCode != http.StatusOK {
			t.Errorf("the team that has it: %d %s", got.StatusCode, got.body)
		}
		if got := r.raw(request("GET", "/orders/1", "only.example.com")); got.StatusCode != http.StatusOK {
			t.Errorf("a host name that the earlier team still has: %d %s", got.StatusCode, got.body)
		}
	}
}

func TestExplain_customDomain(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough), severalDomains)
	for _, tc := range []struct{ method, host, path, want string }{
		{"GET", ownHost, "/orders/42", "Environment on-1 of version 1.0.0, through the custom domain " + ownHost +
			"/orders, path /42."},
		{"GET", ownHost, "/orders/archive/1", "Environment on-2 of version 1.0.0, through the custom domain " +
			"" + ownHost +
			"/orders/archive, path /orders/archive/1."},
		{"POST", ownHost, "/o/1", "Environment on-3 of version 1.0.0, through the custom domain " + ownHost +
			"/o for POST, path /1."},
		{"GET", strings.ToUpper(ownHost) + ":443", "", "Environment on-0 of version 1.0.0, through the custom domain " +
			ownHost + ", path /."},
		{"GET", ownHost, "/books/1", policy.NoRoute.Message}, // of another project
		{"GET", "only.example.com", "/", policy.NoRoute.Message},
		{"GET", ownHost, "/orders/..%2fa", policy.BadPath.Message},
	} {
		got := r.gateway.Explain(policy.Question{
			ProjectID: r.project.ID, Host: tc.host, Method: tc.method, Path: tc.path,
		})
		if got.Steps[0].Detail != tc.want {
			t.Errorf("%s %s%s: %q, want %q", tc.method, tc.host, tc.path, got.Steps[0].Detail, tc.want)
		}
	}
}
