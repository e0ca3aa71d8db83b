package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
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

// The upstream is told the name that the caller used, and no prefix: the set that Kong sends
// for a route with hosts and the path /.
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
			ID:     "env_books",
			Name:   "prod",
			Target: r.project.Versions[0].Environments[0].Target + "/books",
			Hosts:  []string{ownHost},
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
	without.Versions[0].Environments[1].Hosts = nil
	if err := r.gateway.Publish([]*snapshot.Project{&without}); err != nil {
		t.Fatal(err)
	}
	r.wantCode("after its removal", r.raw(request("GET", "/a", ownHost)), 404, "no_route")
	if got := r.gateway.Hosts(); len(got) != 0 {
		t.Errorf("hosts %v", got)
	}
}
