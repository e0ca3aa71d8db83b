package gateway

import (
	"strings"
	"testing"

	"postern/gateway/engine"
	"postern/policy"
	"postern/snapshot"
)

// Wherever a target leads, it names the project, version and environment that it
// is decided by, and what goes to the upstream is the rest of it, in the one form
// that no further reading changes.
func FuzzRouting(f *testing.F) {
	project := func(id, name string) *snapshot.Project {
		return &snapshot.Project{ID: id, Name: name, Versions: []snapshot.Version{{ID: id, Name: "1.0.0",
			Access:       snapshot.Access{Mode: snapshot.Passthrough, Keyless: snapshot.Reject},
			Environments: []snapshot.Environment{{ID: id + "d", Name: "dev", Target: "http://" + name + ".test"}, {ID: id + "p", Name: "prod", Target: "http://" + name + ".test/base"}}}}}
	}
	served, err := compile([]*snapshot.Project{project("a", "shop"), project("b", "books")}, &table{}, nil,
		func(*environment) *engine.Upstream { return engine.NewUpstream(nil) })
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, hostLine, uri string) {
		sent, ok := readTarget(uri)
		if !ok {
			return
		}
		host := bareHost(hostLine)
		r, ok := served.find("proxy.test", host, sent.path)
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
		if again, err := policy.NormalizePath(forwarded); err != nil || again != forwarded || !strings.HasPrefix(forwarded, r.environment.path) {
			t.Fatalf("%q is forwarded as %q, which reads as %q, %v", uri, forwarded, again, err)
		}
	})
}
