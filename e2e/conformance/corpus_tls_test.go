package conformance

import (
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// The versions whose upstreams speak TLS.
const (
	byName      = "/ztls-name/prod"     // the certificate has the name of the target
	byAddress   = "/ztls-address/prod"  // the target is an address, which the certificate has
	commonName  = "/ztls-common/prod"   // the certificate has the name as its common name alone
	otherName   = "/ztls-other/prod"    // the certificate has another name
	otherIssuer = "/ztls-stranger/prod" // no known authority issued the certificate
)

func secureVersions(up *secureUpstreams, access snapshot.Access) []snapshot.Version {
	version := func(id, path, target string) snapshot.Version {
		name := path[1 : len(path)-len("/prod")]
		return snapshot.Version{
			ID:           "ver_" + id,
			Name:         name,
			Access:       access,
			Environments: []snapshot.Environment{{ID: "env_" + id, Name: "prod", Target: target + "/base"}},
		}
	}
	return []snapshot.Version{
		version("t2", byAddress, up.byAddress),
		version("t3", commonName, up.commonName),
		version("t1", byName, up.byName),
		version("t4", otherName, up.otherName),
		version("t5", otherIssuer, up.otherIssuer),
	}
}

// answersOverTLS are calls to upstreams that speak TLS.
func answersOverTLS(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	var out []Case
	for _, group := range [][]scripted.Script{
		scripted.LargeHeads(), scripted.ContentTypes()[:4], scripted.Cookies()[:2], scripted.HopFields()[:4],
		scripted.Framings(), scripted.Surpluses(),
		scripted.Truncations(), scripted.Timings(),
	} {
		for _, s := range group {
			for _, method := range []string{"GET", "HEAD"} {
				out = append(out, one("TLS answer "+s.Name+" to "+method, method, projectHost,
					byName+scripted.Path+s.Name, k))
			}
		}
	}
	out = append(out,
		get("TLS, plain call", byName+"/x?q=1", k),
		get("TLS, no key", byName+"/x"),
		withBody("TLS, body", "POST", projectHost, byName+"/x", "hello", k, "Content-Length: 5"),
		websocket("TLS, websocket", byName+"/ws", k))
	out = append(out, differs([]Case{get("TLS, target by address", byAddress+"/x", k)}, AddressCertificate)...)
	out = append(out, differs([]Case{get("TLS, common name alone", commonName+"/x", k)}, UpstreamCertificates)...)
	return append(out, differs([]Case{
		get("TLS, certificate of another name", otherName+"/x", k),
		get("TLS, certificate of another issuer", otherIssuer+"/x", k),
	}, ErrorBodies)...)
}
