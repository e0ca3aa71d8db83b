package conformance

import (
	"net/netip"

	"postern/core/snapshot"
	"postern/testkit/sample"
)

// copied is a version made as a copy of 1.0.0, with its own policies since: calls without a key fall back to the
// project's owner, calls from 127.0.0.2 are refused, one environment was renamed from dev to live and one was added.
// Its name begins like that of its source.
const copied = "1.0.0-copy"

func copiedVersion(target string) snapshot.Version {
	return snapshot.Version{
		ID:   "ver_c1",
		Name: copied,
		Access: snapshot.Access{
			RequestsAuth: snapshot.RequestsAuth{
				Mode:    snapshot.Authenticate,
				Methods: []string{snapshot.APIKey},
				Keyless: snapshot.OwnerFallback,
			},
			IP: snapshot.IPRules{Deny: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}},
		},
		Environments: []snapshot.Environment{
			{ID: "env_c1", Name: "live", Target: target + "/copied-live"},
			{ID: "env_c2", Name: "prod", Target: target + "/copied/prod/"},
			{ID: "env_c3", Name: "prod-eu", Target: target},
		},
	}
}

// severalVersions are calls to a version and its copy: every key at each environment, calls
// without a key, calls from a refused address, and addresses between the two.
func severalVersions(keys map[string]sample.Plain) []Case {
	var out, unrouted []Case
	for _, environment := range []string{"live", "prod", "prod-eu"} {
		at := "/" + copied + "/" + environment
		for _, name := range namesOf(keys) {
			out = append(out, get("key "+name+" at "+at, at+"/x", key(keys[name])))
		}
		k := key(keys["allenvs"])
		out = append(out,
			get("no key at "+at, at+"/x"),
			get("root of "+at, at, k),
			get("slash of "+at, at+"/", k),
			one("path form of "+at, "GET", bareHost, "/shop"+at+"/x?y=1", k),
			one("HEAD at "+at, "HEAD", projectHost, at+"/x", k),
			withBody("POST at "+at, "POST", projectHost, at+"/x", "hello", k, length(5)),
			from("127.0.0.2", get("refused address at "+at, at+"/x", k)),
			from("127.0.0.2", get("refused address without a key at "+at, at+"/x")),
		)
	}
	for _, target := range []string{
		"/1.0.0-cop/prod/x", "/1.0.0-copyx/prod/x", "/1.0.0-/prod/x", "/1x0.0-copy/prod/x", "/1.0.0-COPY/prod/x",
		"/1.0.0-copy/dev/x", "/1.0.0-copy/liv/x", "/1.0.0-copy/livex", "/1.0.0-copy/prod-e/x", "/1.0.0-copy/prod-eux",
		"/1.0.0/live/x", "/1.0.0/prod-eu/x", "/1.0.0-copy/../1.0.0/live/x", "/1.0.0-copy%2Fprod/x",
	} {
		unrouted = append(unrouted, get("between versions: "+target, target, key(keys["allenvs"])))
	}
	out = append(out, differs(unrouted, ErrorBodies)...)
	return append(out,
		get("from a version to its copy", "/1.0.0/../1.0.0-copy/prod/x", key(keys["active"])),
		get("from a copy to its source", "/1.0.0-copy/live/../../1.0.0/dev/x", key(keys["dev"])),
		get("without a key to the source", "/1.0.0-copy/live/../../1.0.0/dev/x"),
	)
}
