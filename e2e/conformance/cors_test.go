//go:build conformance

package conformance

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// corsShapes are projects that let pages of other origins call.
func corsShapes() map[string]snapshot.CORS {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	return map[string]snapshot.CORS{
		"any": {CORS: contract.CORS{Origins: []string{"*"}, Methods: methods}},
		"one": {CORS: contract.CORS{
			Origins: []string{"https://app.example"}, Methods: []string{"GET"}, MaxAge: new(0),
		}},
		"one of app": {
			CORS:     contract.CORS{AppOrigins: true, Methods: methods, Credentials: true},
			FromApps: []string{"http://localhost:3000"},
		},
		"several": {
			CORS: contract.CORS{
				Origins: []string{
					"https://app.example", "http://localhost:3000", "https://port.example:8443",
					"https://xn--bcher-kva.example", "capacitor://localhost", "chrome-extension://abc",
					"safari-web-extension://0A1B-2C", "tauri://localhost:8100",
				},
				Methods:        []string{"POST", "GET"},
				Headers:        []string{"Content-Type", "X-API-Key"},
				ExposedHeaders: []string{"ETag", "X-RateLimit-Remaining-Minute"},
				Credentials:    true,
				MaxAge:         new(600),
			},
		},
		"headers of any": {
			CORS: contract.CORS{
				Origins:        []string{"*"},
				Methods:        []string{"DELETE"},
				Headers:        []string{"*"},
				ExposedHeaders: []string{"*"},
				MaxAge:         new(86400),
			},
		},
		"one app": {CORS: contract.CORS{
			Origins: []string{"capacitor://localhost"}, Methods: methods, Credentials: true,
		}},
		"nothing allowed": {CORS: contract.CORS{AppOrigins: true, Methods: methods}},
	}
}

// corsCases are calls and preflights by pages of these and other origins. several: the project
// allows more than one.
func corsCases(k string, several bool) []Case {
	var out []Case
	const asked, headers = "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: " +
		"content-type,x-api-key"
	origins := []string{
		"https://app.example", "http://localhost:3000", "https://port.example:8443", "https://xn--bcher-kva.example",
		"https://other.example", "https://app.example:443", "https://app.example.evil.example",
		"http://app.example", "null",
		"https://APP.example", "https://app.example.", "https://appxexample", "http://[::1]:3000",
		"chrome-extension://abc", "chrome-extension://ABC", "capacitor://localhost", "ionic://localhost",
		"capacitor://localhost:80", "safari-web-extension://0A1B-2C", "tauri://localhost:8100",
	}
	for _, origin := range origins {
		line := "Origin: " + origin
		out = append(out,
			get("call of "+origin, prod+"/x", k, line),
			get("refused call of "+origin, prod+"/x", line),
			one("preflight of "+origin, "OPTIONS", projectHost, prod+"/x", line, asked, headers),
			one("preflight without headers of "+origin, "OPTIONS", projectHost, prod+"/x", line, asked),
			one("no method asked for by "+origin, "OPTIONS", projectHost, prod+"/x", k, line))
		for _, s := range scripted.CrossOrigins() {
			out = append(out, get(fmt.Sprintf("%s to %s", s.Name, origin), prod+scripted.Path+s.Name, k, line))
		}
	}
	odd := []Case{
		get("call with an empty origin", prod+"/x", k, "Origin:"),
		one("preflight with an empty origin", "OPTIONS", projectHost, prod+"/x", "Origin:", asked),
	}
	for _, more := range []string{"/", "/x"} {
		line := "Origin: https://app.example" + more
		odd = append(odd,
			get("call of an origin with "+more, prod+"/x", k, line),
			get("refused call of an origin with "+more, prod+"/x", line),
			one("preflight of an origin with "+more, "OPTIONS", projectHost, prod+"/x", line, asked, headers))
	}
	if several {
		odd = differs(odd, SeveralOrigins)
	}
	const page = "Origin: https://app.example"
	out = append(append(out, odd...), differs([]Case{
		get("no route", "/1.0.0/none/x", k, page),
		one("preflight of no route", "OPTIONS", projectHost, "/1.0.0/none/x", page, asked),
	}, ErrorBodies)...)
	return append(out,
		get("no page", prod+"/x", k),
		get("no page, refused", prod+"/x"),
		one("preflight with a key", "OPTIONS", projectHost, prod+"/x", k, page, asked),
		one("preflight with empty headers", "OPTIONS", projectHost, prod+"/x", page, asked,
			"Access-Control-Request-Headers:"),
		one("preflight with headers twice", "OPTIONS", projectHost, prod+"/x", page, asked,
			"Access-Control-Request-Headers: x-a", "Access-Control-Request-Headers: x-b"),
		one("preflight with an empty method", "OPTIONS", projectHost, prod+"/x", page,
			"Access-Control-Request-Method:"),
		one("preflight for a private network", "OPTIONS", projectHost, prod+"/x", page, asked,
			"Access-Control-Request-Private-Network: true"),
		get("two origins", prod+"/x", k, "Origin: https://other.example", page),
		one("preflight of two origins", "OPTIONS", projectHost, prod+"/x", "Origin: https://other.example", page,
			asked),
		one("preflight with a wrong key", "OPTIONS", projectHost, prod+"/x", "X-API-Key: none", page, asked),
		withBody("preflight with a body", "OPTIONS", projectHost, prod+"/x", "hello", page, asked, "Content-Length: 5"),
		one("preflight of a hidden dot segment", "OPTIONS", projectHost, prod+"/x%252f..%252fy", page, asked),
		get("a hidden dot segment", prod+"/x%252f..%252fy", k, page),
		one("HEAD", "HEAD", projectHost, prod+"/x", k, page),
		one("POST", "POST", projectHost, prod+"/x", k, page, "Content-Length: 0"),
		one("OPTIONS of the upstream", "OPTIONS", projectHost, prod+"/x", k),
		websocket("websocket", prod+"/ws", k, page))
}

// Pages of other origins get the same answers, preflights and refusals.
func TestConformanceCORS(t *testing.T) {
	shapes, sent := corsShapes(), 0
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			project, keys := sample.Fresh(up.url, sample.RequiresKeys())
			shape := shapes[name]
			project.CORS = &shape
			folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
			kong, _ := startKong(t, folder, up)
			cases := corsCases(key(keys["active"]), len(shape.Allowed()) > 1)
			sent += len(cases)
			run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
		})
	}
	if t.Logf("%d requests", sent); sent < 780 {
		t.Errorf("only %d requests", sent)
	}
}
