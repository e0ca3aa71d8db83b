package conformance

import (
	"strings"

	"postern/testkit/sample"
)

// routedPaths reach an environment, whatever way they are written.
var routedPaths = []string{
	prod, prod + "/", prod + "//", prod + "/x/", prod + "/.", prod + "/./", prod + "//.//",
	"//1.0.0/prod/x", "/1.0.0//prod/x", "/./1.0.0/./prod/./x", "/1.0.0/prod/../prod/x", "/1.0.0/prod/../dev/x",
	"/1.0.0/dev/../prod/../../2.0.0/prod/x", "/%31.0.0/%70rod/x", "/1%2E0%2e0/prod/x", "/1.0.0/%2e%2e/1.0.0/prod/x",
	prod + "/a//b///c", prod + "/a/./b/../c", prod + "/a/b/..", prod + "/a/b/.", prod + "/a/b/../",
	prod + "/a/%2e%2e/%41%2fb", prod + "/a%2Fb%2fc",
	prod + "/%2f", prod + "/%2F%2f", prod + "/a%2f/b", prod + "/a/%2fb", prod + "/%5c", prod + "/a%5Cb",
	prod + "/%41%7a%7E%2d%5f%2e", prod + "/%20%21%22%23%24%25%26%27", prod + "/%3a%3B%3c%3d%3e%3F%40",
	prod + "/%5b%5C%5d%5e%60%7b%7C%7d",
	prod + "/%28%29%2a%2B%2c", prod + "/%7e%30%39", prod + "/%2541", prod + "/%25", prod + "/%25%25",
	prod + "/a;b=c;d/e", prod + "/!$&'()*+,;=:@-._~", prod + "/é/ü", prod + "/%c3%a9/%C3%BC", prod + "/%e2%80%ae",
	prod + "/%f0%9f%98%80",
	prod + "/[x]", prod + "/{x}|\\^`\"<>", prod + "/a+b%2Bc", prod + "/a%0d%0aX-Evil:%201", prod + "/%09",
	prod + "/%7f", prod + "/%01",
	prod + "/..a", prod + "/a..", prod + "/...", prod + "/.../x", prod + "/.a/.b", prod + "/a.",
	prod + "/.well-known/x",
	prod + "/a:b", prod + "/a@b", prod + "/a,b", prod + "/*", prod + "/~", prod + "/-", prod + "/$", prod + "/{id}",
	prod + "/%7Bid%7D",
	prod + "/1.0.0/prod/x", prod + "/../prod", prod + "/x/../..//prod/y", prod + "/http://other.example/x",
	prod + "/x.php/../y",
	"/v3-optional/prod/x", "/v3-optional/prod", "/v3-optional/prod/", "/2.0.0/prod", "/2.0.0/prod/", "/open/prod",
	"/open/prod/", "/open/prod//x",
	"/fenced/prod/x", "/fenced/prod", "/1.0.0/dev", "/1.0.0/dev/",
}

// unroutedPaths reach none, or are no paths.
var unroutedPaths = []string{
	prod + "x", prod + "-x", prod + "%2Fx", prod + ".", prod + "/..", prod + "~", prod + "%20", prod + ";x",
	prod + ":x",
	"/1.0.0", "/1.0.0/", "/", "//", "/shop", "/1.0.0/PROD/x", "/1x0x0/prod/x", "/1.0.0/nope/x", "/9.9.9/prod/x",
	"/1.0.0.0/prod/x", "/1.0/prod/x",
	"/1.0.0%2Fprod/x", "/prod/1.0.0/x", "/OPEN/prod/x", "/open", "/%2e/x", "/x/../y",
	"/0%2f0/../..%2f", "/0%2f0/../..%2f1.0.0/prod/x", prod + "/a%2fb/../../../..%2fx",
	prod + "/../../../x", "/../1.0.0/prod/x", "/%2e%2e/x", "/..", "/%2e%2e", "/.%2e/x",
	prod + "/%", prod + "/%4", prod + "/%zz", prod + "/%00", prod + "/a%00b", prod + "/%g0", "/%",
}

// hiddenDots have a dot segment behind an encoded slash or backslash, or joined
// by a semicolon (spec 2).
var hiddenDots = []string{
	"..%2fdev", "..%2Fdev", "%2e%2e%2fdev", "%2E%2E%2Fdev", ".%2e%2fdev", "x/..%2f..%2fdev/y", "a/..%2fPROD/data.txt",
	"..%5cdev", "..%5Cdev", "%2e%2e%5cdev", "a%2f..%2fdev", "a%2f..", "a%5c..", "a%2f../b", "%2f..%2f",
	"a%2f%2e%2e%2fb",
	"%252e%252e/x", "..%252fdev", "%252e%252e%252fdev", "..%255cdev", "%252e%252e%255cdev",
	"..;/dev", "..;x=1/dev", "%2e%2e;/dev", "a/..;/dev", "a/..;", "..%3b/dev", "a%2f..;x%2fb", "..\\dev", "a\\..\\b",
}

func paths(keys map[string]sample.Plain) []Case {
	k := key(keys["allenvs"])
	var out, unrouted []Case
	for _, target := range routedPaths {
		out = append(out, get("path "+target, target, k), get("path "+target+" with a query", target+"?a=%2e%2e/%2F",
			k))
	}
	for _, target := range unroutedPaths {
		unrouted = append(unrouted, get("path "+target, target, k), get("path "+target+" without a key", target))
	}
	for _, end := range hiddenDots {
		out = append(out,
			get("hidden dots "+end, prod+"/x/y/"+end, k),
			get("hidden dots "+end+" at open", "/open/prod/x/"+end))
	}
	for _, target := range []string{"/shop" + prod, "/shop" + prod + "/", "/shop//1.0.0/prod/x", "/shop/open/prod/x",
		"/%73hop" + prod + "/x", "/x/../shop" + prod + "/y"} {
		out = append(out, one("bare host, path "+target, "GET", bareHost, target, k))
	}
	for _, target := range []string{"/shop" + prod + "x", "/Shop" + prod + "/x", "/other" + prod + "/x", "/shop",
		"/shop/"} {
		unrouted = append(unrouted, one("bare host, path "+target, "GET", bareHost, target, k))
	}
	unrouted = append(unrouted,
		get("absolute form without a path", "http://"+projectHost, k),
		one("asterisk form", "OPTIONS", projectHost, "*", k),
		get("upstream that is not there", "/zdead/prod/x", k))
	out = append(out, differs(unrouted, ErrorBodies)...)
	out = append(out, differs([]Case{get("path that isn't UTF-8", prod+"/%ff%fe", k)}, InvalidUTF8)...)
	out = append(out, differs([]Case{
		get("path with a fragment", prod+"/x#y", k),
		one("path form with an empty Host line", "GET", "", "/shop"+prod+"/x", k),
	}, RefusedRequests)...)
	return append(out,
		get("absolute form", "http://"+projectHost+prod+"/x?q=1", k),
		get("absolute form in upper case", "HTTP://"+strings.ToUpper(projectHost)+prod+"/x", k),
		get("long path", prod+"/"+strings.Repeat("abcdefgh/", 300), k),
		get("upstream that is not there, no key", "/zdead/prod/x"))
}

func queries(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	var out []Case
	for _, query := range []string{
		"?", "?a", "?a=b&a=c&b=", "?a=%2F%2f+%20", "?a=b?c=d", "??", "?&&", "?a=%zz&b=%", "?{}|\\^`\"<>", "?é=ü",
		"?a[]=1&a[0]=2",
		"?../../x", "?a=//b", "?%61=%62", "?a;b", "?q=" + strings.Repeat("x", 3000), "?a=b&%00", "?ngx.var=$host",
		"?a=${HOME}$(id)",
		"?%ff", "?/../x", "?a=..%2f..%2f", "?X-API-Key=x", "?a=b%0d%0aX-Evil: 1"[:13],
	} {
		out = append(out, get("query "+query[:min(len(query), 20)], prod+"/x"+query, k))
	}
	return append(out, get("query right after the prefix", prod+"?a=b", k), get("empty query after the prefix",
		prod+"?", k))
}
