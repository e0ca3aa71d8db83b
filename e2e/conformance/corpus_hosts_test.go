package conformance

import "postern/testkit/sample"

// hostNames are host names of the sample project's customer: unchanged, and as callers may
// also write them.
var hostNames = []string{
	"api.shop.example", "API.Shop.Example", "api.shop.example.", "api.shop.example:8443", "API.shop.example.:80",
	"xn--bcher-kva.example", "XN--Bcher-KVA.example",
}

// namedPaths are paths at a customer's host name, where the environment begins at /.
var namedPaths = []string{
	"/", "/?x=1", "/x", "/x/", "//x//y", "/a/%2e%2e/%41%2fb", "/é", "/1.0.0/prod/x", "/2.0.0/prod/x",
	"/shop/1.0.0/prod/x",
	"/healthz", "/.well-known/x", "/a;b=c", "/a/..%2fdev", "/a/..;/dev", "/x?y=%2F&z=a/../b",
}

// customHosts are calls at host names of the customer's own.
func customHosts(keys map[string]sample.Plain) []Case {
	k, other := key(keys["allenvs"]), key(keys["dev"])
	var out []Case
	for _, host := range hostNames {
		out = append(out,
			one("host "+host, "GET", host, "/x?y=1", k),
			one("host "+host+" at the root", "GET", host, "/", k),
			one("host "+host+" without a key", "GET", host, "/x"),
			one("host "+host+" with a key of another environment", "GET", host, "/x", other),
			one("host "+host+" with headers of the gateway", "POST", host, "/x", k,
				"X-Forwarded-Prefix: /evil", "X-Forwarded-Host: evil.example", "X-Consumer-ID: evil",
				"Content-Length: 0"))
	}
	for _, target := range namedPaths {
		out = append(out,
			one("path "+target+" at a host name", "GET", "api.shop.example", target, k),
			one("path "+target+" at an open host name", "GET", "open.shop.example", target))
	}
	return append(out,
		one("absolute form at a host name", "GET", "api.shop.example", "http://api.shop.example/x?y", k),
		one("address in host form next to host names", "GET", projectHost, prod+"/x", k))
}
