package gateway_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

func TestAddressing(t *testing.T) {
	shown := func(_ *rig, o *gateway.Options) { o.Host = "198.51.100.1" }
	r := newRig(t, nil, withMode(snapshot.Passthrough), shown)
	for _, tc := range []struct{ name, host, path, want string }{ // want "": no route
		{"host form", "shop.proxy.test", "/1.0.0/prod/a", "/base/a"},
		{"host form with a port", "shop.proxy.test:8090", "/1.0.0/prod/a", "/base/a"},
		{"host form, upper case", "SHOP.Proxy.Test", "/1.0.0/prod/a", "/base/a"},
		{"host form, trailing dot", "shop.proxy.test.", "/1.0.0/prod/a", "/base/a"},
		{"host form, other environment", "shop.proxy.test", "/1.0.0/dev/a", "/a"},
		{"bare domain", "proxy.test", "/shop/1.0.0/prod/a", "/base/a"},
		{"address", "127.0.0.1:8090", "/shop/1.0.0/prod/a", "/base/a"},
		{"IPv6 address", "[::1]:8090", "/shop/1.0.0/prod/a", "/base/a"},
		{"localhost", "localhost:8090", "/shop/1.0.0/prod/a", "/base/a"},
		{"another loopback address", "127.0.0.9:8090", "/shop/1.0.0/prod/a", "/base/a"},
		{"host of the URL shown", "198.51.100.1:8090", "/shop/1.0.0/prod/a", "/base/a"},
		{"another address", "198.51.100.2", "/shop/1.0.0/prod/a", ""},
		{"another IPv6 address", "[2001:db8::1]", "/shop/1.0.0/prod/a", ""},
		{"loopback with a zone", "[::1%25lo]", "/shop/1.0.0/prod/a", ""},
		{"empty host", "", "/shop/1.0.0/prod/a", "/base/a"},

		{"environment alone", "shop.proxy.test", "/1.0.0/prod", "/base"},
		{"environment and slash", "shop.proxy.test", "/1.0.0/prod/", "/base/"},
		{"target without a path", "shop.proxy.test", "/1.0.0/dev", "/"},
		{"target without a path, slash", "shop.proxy.test", "/1.0.0/dev/", "/"},
		{"normalized before matching", "shop.proxy.test", "//1.0.0/./x/../%70rod//a/%2e%2e/%41%2fb", "/base/A%2Fb"},
		{"raw bytes are escaped", "shop.proxy.test", "/1.0.0/prod/é", "/base/%C3%A9"},
		{"parameters stay", "shop.proxy.test", "/1.0.0/prod/a;b=c,d", "/base/a;b=c,d"},
		{"query", "shop.proxy.test", "/1.0.0/prod/a?x=1", "/base/a?x=1"},
		{"query right after the prefix", "shop.proxy.test", "/1.0.0/prod?x=1", "/base?x=1"},
		{"empty query", "shop.proxy.test", "/1.0.0/prod/a?", "/base/a?"},
		{
			"query byte for byte",
			"shop.proxy.test", "/1.0.0/prod/a?b=%zz;c=a/../b//c&%41=é?#", "/base/a?b=%zz;c=a/../b//c&%41=é?#",
		},
		{"plus and spaces in a query", "shop.proxy.test", "/1.0.0/prod/a?q=a+b%20c&&=&", "/base/a?q=a+b%20c&&=&"},
		{"absolute form", "shop.proxy.test", "http://shop.proxy.test/1.0.0/prod//a?x=1", "/base/a?x=1"},
		{"absolute form, no path", "proxy.test", "http://proxy.test?x", ""},

		{"version is a whole segment", "shop.proxy.test", "/1.0.00/prod", ""},
		{"environment is a whole segment", "shop.proxy.test", "/1.0.0/prodx", ""},
		{"dots aren't wildcards", "shop.proxy.test", "/1x0x0/prod", ""},
		{"escaped slash isn't a separator", "shop.proxy.test", "/1.0.0%2fprod/a", ""},
		{"names have a case", "shop.proxy.test", "/1.0.0/PROD/a", ""},
		{"only a version", "shop.proxy.test", "/1.0.0", ""},
		{"root", "shop.proxy.test", "/", ""},
		{"unknown project", "other.proxy.test", "/1.0.0/prod", ""},
		{"unknown project by path", "proxy.test", "/other/1.0.0/prod", ""},
		{"path form below a project's host", "shop.proxy.test", "/shop/1.0.0/prod", ""},
		{"host form on the bare domain", "proxy.test", "/1.0.0/prod", ""},
		{"two labels", "a.shop.proxy.test", "/1.0.0/prod", ""},
		{"empty label", ".proxy.test", "/1.0.0/prod", ""},
		{"foreign host", "example.com", "/shop/1.0.0/prod", ""},
		{"domain as a suffix only", "shopproxy.test", "/1.0.0/prod", ""},
		{"traversal out of the environment", "shop.proxy.test", "/1.0.0/prod/../x", ""},
		{"traversal to the root", "shop.proxy.test", "/1.0.0/prod/%2e%2e/../etc", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(r.upstreamCalls())
			got := r.raw(request("GET", tc.path, tc.host))
			calls := r.upstreamCalls()[before:]
			if tc.want == "" {
				r.wantCode(tc.name, got, 404, "no_route")
				if len(calls) != 0 {
					t.Errorf("the upstream got %s", calls[0].uri)
				}
				return
			}
			if len(calls) != 1 || calls[0].uri != tc.want {
				t.Errorf("%d %s; the upstream got %v, want %s", got.StatusCode, got.body, calls, tc.want)
			}
		})
	}
}

func TestAddressing_refused(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	for _, tc := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/1.0.0/prod/%00", 400},
		{"GET", "/1.0.0/prod/%zz", 400},
		{"GET", "/1.0.0/prod/../../../etc", 400}, // above the root: nginx refuses it before Kong routes
		{"GET", "/1.0.0/prod/..%2f..%2f..%2fetc", 400},
		{"GET", "/1.0.0/prod/a#b", 400},
		{"GET", "*", 400},
		{"OPTIONS", "*", 400},
		{"GET", "ftp://shop.proxy.test/1.0.0/prod", 400},
		{"GET", "shop.proxy.test", 400},
		{"TRACE", "/1.0.0/prod", 405},
		{"CONNECT", "shop.proxy.test:80", 405},
	} {
		if got := r.raw(request(tc.method, tc.target, "shop.proxy.test")); got.StatusCode != tc.status {
			t.Errorf("%s %s: %d %s, want %d", tc.method, tc.target, got.StatusCode, got.body, tc.status)
		}
	}
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
}

func TestMethods_forwarded(t *testing.T) {
	r := newRig(t, nil)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "QUERY"} {
		before := len(r.upstreamCalls())
		got := r.call(method, "/shop/1.0.0/prod/x")
		if calls := r.upstreamCalls()[before:]; got.StatusCode != 200 || len(calls) != 1 || calls[0].method != method {
			t.Errorf("%s: %d, the upstream got %v", method, got.StatusCode, calls)
		}
	}
}

func TestUnclaimed_expired(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r := newRig(t, nil, withProject(func(p *snapshot.Project) { p.ExpiresAt = now.Add(time.Minute) }),
		func(_ *rig, o *gateway.Options) { o.Clock = func() time.Time { return now } })
	if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
		t.Fatalf("before: %d %s", got.StatusCode, got.body)
	}
	now = now.Add(time.Minute)
	r.wantCode("after", r.get("/shop/1.0.0/prod", noKey), 410, "expired_proxy")
	r.wantCode("an unknown path", r.get("/shop/1.0.0/nowhere"), 410, "expired_proxy")
}

// A takedown stops every call, with or without a key, on both paths and at once,
// and its lifting lets them through again.
func TestAddressing_takenDown(t *testing.T) {
	for name, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, options...)
			taken := *r.project
			taken.TakenDown = true
			if err := r.gateway.Publish([]*snapshot.Project{&taken}); err != nil {
				t.Fatal(err)
			}
			r.wantCode("with a key", r.get("/shop/1.0.0/prod"), 403, "project_frozen")
			r.wantCode("without", r.get("/shop/1.0.0/prod", noKey), 403, "project_frozen")
			r.wantCode("a body", r.call("POST", "/shop/1.0.0/prod", "Content-Length: 0"), 403, "project_frozen")
			r.wantCode(
				"an upgrade",
				r.get("/shop/1.0.0/prod", "Connection: upgrade", "Upgrade: websocket"),
				403,
				"project_frozen",
			)
			r.wantCode("no route wins", r.get("/shop/1.0.0/nowhere"), 404, "no_route")
			if calls := r.upstreamCalls(); len(calls) != 0 {
				t.Errorf("the upstream got %+v", calls)
			}
			if err := r.gateway.Publish([]*snapshot.Project{r.project}); err != nil {
				t.Fatal(err)
			}
			if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
				t.Errorf("lifted: %d %s", got.StatusCode, got.body)
			}
		})
	}
}

// A deleted project answers 410 on every path below its name, on both paths of the gateway.
func TestAddressing_deleted(t *testing.T) {
	for name, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, options...)
			deleted := *r.project
			deleted.Deleted, deleted.TakenDown = true, true
			if err := r.gateway.Publish([]*snapshot.Project{&deleted}); err != nil {
				t.Fatal(err)
			}
			r.wantCode("with a key", r.get("/shop/1.0.0/prod"), 410, "deleted")
			r.wantCode("without", r.get("/shop/1.0.0/prod", noKey), 410, "deleted")
			r.wantCode("an unknown environment", r.get("/shop/1.0.0/nowhere"), 410, "deleted")
			r.wantCode("another project", r.get("/shopx/1.0.0/prod"), 404, "no_route")
			if calls := r.upstreamCalls(); len(calls) != 0 {
				t.Errorf("the upstream got %+v", calls)
			}
			if err := r.gateway.Publish([]*snapshot.Project{r.project}); err != nil {
				t.Fatal(err)
			}
			if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
				t.Errorf("restored: %d %s", got.StatusCode, got.body)
			}
		})
	}
}

func TestPublish_replacement(t *testing.T) {
	r := newRig(t, nil)
	other := *r.project
	other.ID, other.Name = "prj_other", "other"
	if err := r.gateway.Publish([]*snapshot.Project{&other}); err != nil {
		t.Fatal(err)
	}
	r.wantCode("the project that is gone", r.get("/shop/1.0.0/prod"), 404, "no_route")
	r.wantCode("the new project, another one's key", r.get("/other/1.0.0/prod"), 401, "invalid_key")
}

func TestPublish_invalidSnapshot(t *testing.T) {
	for name, spoil := range testkit.ByName(map[string]func(*snapshot.Project){
		"unknown mode":    func(p *snapshot.Project) { p.Versions[0].Access.Mode = "open" },
		"no mode":         func(p *snapshot.Project) { p.Versions[0].Access.Mode = "" },
		"unknown keyless": func(p *snapshot.Project) { p.Versions[0].Access.Keyless = "maybe" },
		"a method not enforced here": func(p *snapshot.Project) {
			p.Versions[0].Access.Methods = []string{snapshot.APIKey, "magic"}
		},
		"opaque without an endpoint": func(p *snapshot.Project) {
			p.Versions[0].Access.Methods = []string{snapshot.Opaque}
		},
		"authenticate by nothing": func(p *snapshot.Project) { p.Versions[0].Access.Methods = nil },
		"fallback to no one": func(p *snapshot.Project) {
			p.FallbackOwner, p.Versions[0].Access.Keyless = "", snapshot.OwnerFallback
		},
		"no target":              func(p *snapshot.Project) { p.Versions[0].Environments[0].Target = "" },
		"target of no scheme":    func(p *snapshot.Project) { p.Versions[0].Environments[0].Target = "ftp://x/" },
		"target with a query":    func(p *snapshot.Project) { p.Versions[0].Environments[0].Target = "http://x/?y" },
		"target with a password": func(p *snapshot.Project) { p.Versions[0].Environments[0].Target = "http://a:b@x/" },
		"no name":                func(p *snapshot.Project) { p.Name = "" },
		"no id":                  func(p *snapshot.Project) { p.ID = "" },
	}) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			spoilt := *r.project
			spoilt.Versions = append([]snapshot.Version(nil), r.project.Versions...)
			spoilt.Versions[0].Environments = append([]snapshot.Environment(nil), r.project.Versions[0].Environments...)
			spoil(&spoilt)
			if err := r.gateway.Publish([]*snapshot.Project{&spoilt}); err == nil {
				t.Error("it was published")
			}
			if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
				t.Errorf("afterward: %d %s, want the old table to serve", got.StatusCode, got.body)
			}
		})
	}
}

func TestPublish_duplicateName(t *testing.T) {
	r := newRig(t, nil)
	twin := *r.project
	twin.ID = "prj_twin"
	if err := r.gateway.Publish([]*snapshot.Project{r.project, &twin}); err == nil ||
		!strings.Contains(err.Error(), "prj_twin") {
		t.Errorf("Publish: %v, want an error that names prj_twin", err)
	}
}

// Republishing one changed project among thousands must not compile the others
// again. A compiled entry is a copy, so an untouched pointer shows that it was
// reused: a change made behind it stays unseen.
func TestPublish_unchanged(t *testing.T) {
	r := newRig(t, nil)
	r.project.Versions[0].Name = "2.0.0"
	if err := r.gateway.Publish([]*snapshot.Project{r.project}); err != nil {
		t.Fatal(err)
	}
	if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
		t.Errorf("the same pointer was compiled again: %d %s", got.StatusCode, got.body)
	}
	changed := *r.project
	if err := r.gateway.Publish([]*snapshot.Project{&changed}); err != nil {
		t.Fatal(err)
	}
	if got := r.get("/shop/2.0.0/prod"); got.StatusCode != 200 {
		t.Errorf("the new pointer was not compiled: %d %s", got.StatusCode, got.body)
	}
}

func TestHeaders_host(t *testing.T) {
	r := newRig(t, nil)
	r.get("/shop/1.0.0/prod")
	target, err := url.Parse(r.project.Versions[0].Environments[0].Target)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.lastCall().host; got != target.Host {
		t.Errorf("Host = %q, want %q", got, target.Host)
	}
}

func TestAnswer_redirects(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, "http://127.0.0.1:1/elsewhere", http.StatusFound)
	})
	got := r.get("/shop/1.0.0/prod")
	if got.StatusCode != 302 || got.Header.Get("Location") != "http://127.0.0.1:1/elsewhere" ||
		len(r.upstreamCalls()) != 1 {
		t.Errorf(
			"%d %v after %d calls, want the redirect itself after one",
			got.StatusCode,
			got.Header,
			len(r.upstreamCalls()),
		)
	}
}

// A key for dev opens nothing of prod, whatever an upstream makes of the path.
func TestPaths_hiddenDotSegments(t *testing.T) {
	for name, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, options...)
			for _, path := range []string{
				"..%2fprod/data.txt", "%2e%2e%2Fprod", "..%5cprod", "..;/prod", "..%252fprod", "%252e%252e/prod",
				"%2525%2532%2565./prod", "..%2f..%2f..%2f..%2fetc",
			} {
				r.wantCode(path, r.get("/shop/1.0.0/dev/"+path), 400, "bad_path")
				r.wantCode(path+" without a key", r.get("/shop/1.0.0/dev/"+path, noKey), 400, "bad_path")
			}
			if calls := r.upstreamCalls(); len(calls) != 0 {
				t.Errorf("the upstream got %d calls, want none", len(calls))
			}
			if got := r.get("/shop/1.0.0/dev/a%2fb"); got.StatusCode != 200 || r.lastCall().uri != "/a%2Fb" {
				t.Errorf("an encoded slash alone: %d, want 200 at /a%%2Fb", got.StatusCode)
			}
		})
	}
}

// The refused paths of docs/network.md.
func TestPaths_refused(t *testing.T) {
	for name, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, options...)
			for _, tc := range []struct{ path, code string }{
				{"/a/../../../..", "bad_path"},
				{"/..%2fdev", "bad_path"},
				{"/..;/dev", "bad_path"},
				{"/a%00", "bad_request"},
				{"/a#b", "bad_request"},
				{"/a%zz", ""},
				{"/a%", ""},
				{"/a\x01", ""},
			} {
				got := r.raw(request("GET", "/1.0.0/prod"+tc.path, "shop.proxy.test"))
				if tc.code != "" {
					r.wantCode(tc.path, got, 400, tc.code)
				} else if got.StatusCode != 400 || got.body != "400 Bad Request" || !got.Close {
					t.Errorf("%q: %d %q, closed %v", tc.path, got.StatusCode, got.body, got.Close)
				}
			}
			if calls := r.upstreamCalls(); len(calls) > 0 {
				t.Errorf("the upstream got %v", calls)
			}
		})
	}
}
