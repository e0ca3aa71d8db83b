package gateway

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

// Wherever a target leads, it names the project, version and environment that it
// is decided by, and what goes to the upstream is the rest of it, in the one form
// that no further reading changes.
func FuzzRouting(f *testing.F) {
	project := func(id, name string) *snapshot.Project {
		return &snapshot.Project{
			ID:   id,
			Name: name,
			Versions: []snapshot.Version{{
				ID:   id,
				Name: "1.0.0",
				Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
					Mode: snapshot.Passthrough, Keyless: snapshot.Reject,
				}},
				Environments: []snapshot.Environment{{
					ID:     id + "d",
					Name:   "dev",
					Target: "http://" + name + ".test",
				}, {ID: id + "p", Name: "prod", Target: "http://" + name + ".test/base"}},
			}},
		}
	}
	g := New(Options{Domain: "proxy.test"})
	defer g.Close()
	conn := &connInfo{local: netip.MustParseAddr("192.0.2.1"), localHost: "192.0.2.1"}
	served, err := compile([]*snapshot.Project{project("a", "shop"), project("b", "books")}, &table{}, nil,
		connector{compiled: &g.documents, pool: g.budget.NewPool, upstream: g.newUpstream, now: g.now})
	if err != nil {
		f.Fatal(err)
	}
	g.table.Store(served)
	for _, path := range []string{"..%2fdev", "b%5c..%5c..", "%252e%252e%252fb", "..;/..;/b", "x;..%25252f", "a%2fb",
		"%2525%2532%2565%252%2565/b"} {
		f.Add("shop.proxy.test", "/1.0.0/prod/"+path)
	}
	f.Fuzz(func(t *testing.T, hostLine, uri string) {
		sent, err := readTarget(uri)
		if err != nil || policy.HidesDotSegment(sent.path) {
			return
		}
		host := bareHost(hostLine)
		_, r, ok := g.find(hostLine, "GET", sent, conn)
		if !ok {
			return
		}
		want := "/" + r.version.name + "/" + r.environment.name
		if label := projectLabel("proxy.test", host); label == "" {
			want = "/" + r.project.name + want
		} else if label != r.project.name {
			t.Fatalf("%q leads to %s", hostLine, r.project.name)
		}
		if strings.TrimSuffix(r.prefix, "/") != want || want+r.rest != sent.path {
			t.Fatalf("%q at %q: prefix %q, rest %q; want them to spell %q", uri, hostLine, r.prefix, r.rest, sent.path)
		}
		forwarded := policy.JoinTarget(r.environment.path, r.rest)
		if again, err := policy.NormalizePath(forwarded); err != nil || again != forwarded ||
			!strings.HasPrefix(forwarded, r.environment.path) {
			t.Fatalf("%q is forwarded as %q, which reads as %q, %v", uri, forwarded, again, err)
		}
		for read, last := forwarded, ""; read != last; read, last = decodeOnce(read), read {
			if at := resolve(read); at != r.environment.path && !strings.HasPrefix(at, r.environment.path+"/") {
				t.Fatalf("%q, read as %q, leads to %q, outside of %q", uri, read, at, r.environment.path)
			}
		}
	})
}

// resolve reads a path as the most lenient upstreams do: backslashes are slashes,
// and a semicolon ends a segment.
func resolve(path string) string {
	var at []string
	for _, segment := range strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(`/\;`, c) }) {
		switch segment {
		case ".":
		case "..":
			at = at[:max(0, len(at)-1)]
		default:
			at = append(at, segment)
		}
	}
	return strings.Join(append([]string{""}, at...), "/")
}

// decodeOnce decodes what is a whole escape and keeps the rest.
func decodeOnce(path string) string {
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if c, err := hex.DecodeString(path[i+1 : min(i+3, len(path))]); path[i] == '%' && err == nil && len(c) == 1 {
			out.Write(c)
			i += 2
			continue
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

// Whatever a path is, a custom domain takes it by whole segments of its normalized form, and leaves the rest unchanged.
func FuzzFindHost(f *testing.F) {
	domains := []snapshot.Domain{
		{DomainAddress: contract.DomainAddress{Host: "a.test", PathPrefix: "/orders", StripPrefix: true}},
		{DomainAddress: contract.DomainAddress{Host: "a.test", PathPrefix: "/orders/kept"}},
		{DomainAddress: contract.DomainAddress{
			Host: "a.test", PathPrefix: "/posts", StripPrefix: true, Methods: []string{"POST"},
		}},
	}
	p := &snapshot.Project{ID: "prj_a", Name: "shop", Versions: []snapshot.Version{{
		ID: "ver_a", Name: "1.0.0",
		Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
			Mode: snapshot.Passthrough, Keyless: snapshot.Reject,
		}},
		Environments: []snapshot.Environment{{
			ID: "env_a", Name: "prod", Target: "http://up.test/base", Domains: domains,
		}},
	}}}
	g := New(Options{Domain: "proxy.test"})
	defer g.Close()
	served, err := compile([]*snapshot.Project{p}, &table{}, nil,
		connector{compiled: &g.documents, pool: g.budget.NewPool, upstream: g.newUpstream, now: g.now})
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range []string{"/orders/1", "/orders", "/ordersx", "/orders%2f1", "//orders/../orders/./kept/x",
		"/orders/..%2fposts", "/%6frders/%2e%2e/posts", "/posts;/x", "/orders\\x", "/orders/kept%2f", "/"} {
		f.Add(path, "GET")
		f.Add(path, "POST")
	}
	f.Fuzz(func(t *testing.T, uri, method string) {
		sent, err := readTarget(uri)
		if err != nil || policy.HidesDotSegment(sent.path) {
			return
		}
		r, ok := served.findHost("a.test", method, sent.path)
		segments := append(strings.Split(sent.path, "/"), "", "")
		wanted := segments[1] == "orders" || segments[1] == "posts" && method == "POST"
		switch {
		case ok != wanted:
			t.Fatalf("%s %q as %q: taken %v, want %v", method, uri, sent.path, ok, wanted)
		case !ok:
		case segments[1] == "orders" && segments[2] == "kept" && method != "POST" && r.rest != sent.path:
			t.Fatalf("%q is forwarded as %q, want all of it", sent.path, r.rest)
		case r.domain.StripPrefix && r.domain.PathPrefix+r.rest != sent.path:
			t.Fatalf("%q is forwarded as %q without %q", sent.path, r.rest, r.domain.PathPrefix)
		}
	})
}
