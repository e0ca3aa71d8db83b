package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"postern/policy"
	"postern/snapshot"
	"postern/testkit/sample"
)

// Case is one request, byte for byte, to be sent to every gateway.
type Case struct {
	Name    string
	Request string
	// Tunnel is sent after a 101 and expected back. "" is no tunnel.
	Tunnel string
	// Allowed is the one difference that this case may show. "" is none:
	// everything must be equal.
	Allowed string
	// From is the loopback address that the caller has; "" is 127.0.0.1.
	From string
	// ByPlugin: the exported plugin alone decides it, whatever carries it.
	ByPlugin bool
}

// Differences that a case may show, by the reason in the ledger that declares
// each of them (kong.request_limits.<reason>).
const (
	AllowTrailers = "trailers"         // nginx does not forward trailers
	AllowFraming  = "body_framing"     // nginx gives a length to a chunked body that came in one piece
	AllowUTF8     = "invalid_utf8"     // Kong's router reads text only
	AllowFragment = "refused_requests" // nginx takes a raw # for a part of the path
)

// The two hosts of the sample project.
const (
	projectHost = "shop.localhost"
	bareHost    = "localhost"
)

// prod is the path of the environment that asks for keys, in host form.
const prod = "/1.0.0/prod"

// Corpus is every case. The keys are those of package sample.
func Corpus() []Case {
	keys := sample.Keys()
	var all []Case
	for _, family := range []func(map[string]sample.Plain) []Case{keyStates, keyPlaces, malformedKeys, accessPolicies, addressRules, limitHeaders, spoofedHeaders, identityNamedAway} {
		for _, c := range family(keys) {
			c.ByPlugin = true
			all = append(all, c)
		}
	}
	for _, family := range []func(map[string]sample.Plain) []Case{
		forwardingHeaders, hopByHop, paths, queries, methodsAndBodies, upgrades, ordinaryHeaders,
	} {
		all = append(all, family(keys)...)
	}
	// Calls that one gateway lets through and the other does not come last: they
	// are counted by one, and from then on callers are told different numbers.
	slices.SortStableFunc(all, func(a, b Case) int { return cmp.Compare(uneven(a), uneven(b)) })
	return all
}

func uneven(c Case) int {
	if c.Allowed == AllowUTF8 || c.Allowed == AllowFragment {
		return 1
	}
	return 0
}

// Project is the sample project with its upstreams at target, and one version
// more whose upstream is not there.
func Project(target string) *snapshot.Project {
	p := sample.Project(target)
	p.Versions = append(p.Versions, snapshot.Version{
		ID: "ver_9", Name: "zdead", Access: p.Versions[0].Access,
		Environments: []snapshot.Environment{{ID: "env_9", Name: "prod", Target: "http://127.0.0.1:1"}},
	})
	return p
}

// one makes a request without a body. lines are header lines.
func one(name, method, host, target string, lines ...string) Case {
	return withBody(name, method, host, target, "", lines...)
}

func withBody(name, method, host, target, body string, lines ...string) Case {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, host)
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return Case{Name: name, Request: b.String()}
}

func get(name, target string, lines ...string) Case {
	return one(name, "GET", projectHost, target, lines...)
}

func key(k sample.Plain) string { return "X-API-Key: " + k.Plaintext }

func keyStates(keys map[string]sample.Plain) []Case {
	var out []Case
	names := make([]string, 0, len(keys))
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, get("key "+name, prod+"/x", key(keys[name])))
	}
	return append(out,
		get("old secret in grace", prod+"/x", "X-API-Key: "+keys["graced"].Old),
		get("old secret after grace", prod+"/x", "X-API-Key: "+keys["graceover"].Old),
		get("key of dev in dev", "/1.0.0/dev/x", key(keys["dev"])),
		get("key of prod in dev", "/1.0.0/dev/x", key(keys["active"])),
		get("key of all in dev", "/1.0.0/dev/x", key(keys["allenvs"])),
		get("frozen key in the wrong environment", "/1.0.0/dev/x", key(keys["frozen"])),
		one("path form", "GET", bareHost, "/shop"+prod+"/x", key(keys["active"])),
		one("path form without a key", "GET", bareHost, "/shop"+prod+"/x"),
		one("path form on an address", "GET", "127.0.0.1", "/shop"+prod+"/x", key(keys["active"])),
		one("path form frozen", "GET", bareHost, "/shop"+prod+"/x", key(keys["frozen"])),
	)
}

func keyPlaces(keys map[string]sample.Plain) []Case {
	k := keys["active"].Plaintext
	return []Case{
		get("no credentials", prod+"/x"),
		get("key as query api_key", prod+"/x?api_key="+k),
		get("key as query X-API-Key", prod+"/x?X-API-Key="+k),
		get("key as bearer token", prod+"/x", "Authorization: Bearer "+k),
		get("key as authorization", prod+"/x", "Authorization: "+k),
		get("key as basic password", prod+"/x", "Authorization: Basic dXNlcjpwYXNz"),
		get("key as cookie", prod+"/x", "Cookie: X-API-Key="+k),
		get("key as apikey", prod+"/x", "apikey: "+k),
		get("key as x_api_key", prod+"/x", "x_api_key: "+k),
		get("key as X_API-Key", prod+"/x", "X_API-Key: "+k),
		get("key beside x_api_key", prod+"/x", "X-API-Key: "+k, "x_api_key: other"),
		get("key in lower case header", prod+"/x", "x-api-key: "+k),
		get("key in upper case header", prod+"/x", "X-API-KEY: "+k),
		get("key twice", prod+"/x", "X-API-Key: "+k, "X-API-Key: "+k),
		get("key twice in two cases", prod+"/x", "X-API-Key: "+k, "x-api-key: "+k),
		get("key and a bad one", prod+"/x", "X-API-Key: "+k, "X-API-Key: bad"),
		get("bad one and key", prod+"/x", "X-API-Key:", "X-API-Key: "+k),
		get("two keys in one line", prod+"/x", "X-API-Key: "+k+", "+k),
		get("key beside authorization", prod+"/x", "X-API-Key: "+k, "Authorization: Bearer upstreams-own"),
		withBody("key in a form", "POST", projectHost, prod+"/x", "api_key="+k,
			"Content-Type: application/x-www-form-urlencoded", fmt.Sprintf("Content-Length: %d", len("api_key="+k))),
	}
}

func malformedKeys(keys map[string]sample.Plain) []Case {
	active := keys["active"]
	k := active.Plaintext
	made := map[string]string{
		"empty": "", "blanks": "   ", "word": "secret", "leaked hash": fmt.Sprintf("%x", active.Hash),
		"leaked hash in upper case": fmt.Sprintf("%X", active.Hash), "leaked hash with prefix": fmt.Sprintf("pst_prod_%x", active.Hash),
		"truncated": k[:len(k)-1], "lengthened": k + "0", "wrong check": k[:len(k)-1] + "!",
		"check of another": k[:len(k)-6] + keys["dev"].Plaintext[len(keys["dev"].Plaintext)-6:],
		"upper case":       strings.ToUpper(k), "quoted": `"` + k + `"`, "bearer": "Bearer " + k,
		"with blanks around": "  " + k + "  ", "with tab": "\t" + k, "inner blank": k[:20] + " " + k[20:],
		"two underscores": strings.Replace(k, "_", "__", 1), "non-ASCII": k[:len(k)-1] + "é", "percent-encoded": strings.Replace(k, "_", "%5F", 1),
	}
	names := make([]string, 0, len(made))
	for name := range made {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []Case
	for _, name := range names {
		out = append(out, get("malformed key: "+name, prod+"/x", "X-API-Key: "+made[name]))
	}
	unknown, err := policy.NewKey("pst", "prod")
	if err != nil {
		panic(err) // the prefix and environment are constants
	}
	other, err := policy.NewKey("other9", "")
	if err != nil {
		panic(err)
	}
	return append(out,
		get("unknown key", prod+"/x", "X-API-Key: "+unknown),
		get("unknown key of another prefix", prod+"/x", "X-API-Key: "+other),
		get("very long key", prod+"/x", "X-API-Key: pst_prod_"+strings.Repeat("a", 5000)))
}

func accessPolicies(keys map[string]sample.Plain) []Case {
	return []Case{
		get("fallback without a key", "/2.0.0/prod/x"),
		get("fallback with a key", "/2.0.0/prod/x", key(keys["writer"])),
		get("fallback with a bad key", "/2.0.0/prod/x", "X-API-Key: bad"),
		get("fallback with a frozen key", "/2.0.0/prod/x", key(keys["frozen"])),
		get("fallback with authorization", "/2.0.0/prod/x", "Authorization: Bearer upstreams-own"),
		get("fallback with x_api_key", "/2.0.0/prod/x", "x_api_key: whatever"),
		get("fallback at the bare upstream", "/2.0.0/prod"),
		get("fallback at the bare upstream, slash", "/2.0.0/prod/"),
		get("open without a key", "/open/prod/x"),
		get("open with a key", "/open/prod/x", key(keys["active"])),
		get("open with two keys", "/open/prod/x", key(keys["active"]), "X-API-Key: 2"),
		get("open with x_api_key", "/open/prod/x", "x_api_key: mine"),
		get("open with authorization", "/open/prod/x", "Authorization: Basic dXNlcjpwYXNz"),
		get("open with a frozen key", "/open/prod/x", key(keys["frozen"])),
		get("optional without a key", "/v3-optional/prod/x"),
		get("optional with a key", "/v3-optional/prod/x", key(keys["writer"])),
		get("optional with a bad key", "/v3-optional/prod/x", "X-API-Key: bad"),
		get("optional with a revoked key", "/v3-optional/prod/x", key(keys["revoked"])),
		get("optional with an empty key", "/v3-optional/prod/x", "X-API-Key:"),
		get("optional with two keys", "/v3-optional/prod/x", key(keys["active"]), key(keys["active"])),
	}
}

// from gives a case another address on loopback.
func from(address string, c Case) Case {
	c.Name, c.From = c.Name+" from "+address, address
	return c
}

func addressRules(keys map[string]sample.Plain) []Case {
	const denied = "127.0.0.2"
	return []Case{
		get("fenced without a key", "/fenced/prod/x"),
		get("fenced with a key", "/fenced/prod/x", key(keys["active"])),
		from(denied, get("fenced without a key", "/fenced/prod/x")),
		from(denied, get("fenced with a key", "/fenced/prod/x", key(keys["active"]))),
		from(denied, get("fenced with a frozen key", "/fenced/prod/x", key(keys["frozen"]))),
		from(denied, get("fenced with a bad key", "/fenced/prod/x", "X-API-Key: bad")),
		from(denied, get("fenced with a key of a tenant that is gone", "/fenced/prod/x", key(keys["detached"]))),
		from("127.1.2.3", get("fenced with a key", "/fenced/prod/x", key(keys["active"]))),
		get("fenced with a spoofed address", "/fenced/prod/x", "X-Forwarded-For: 198.51.100.7", "X-Real-IP: 198.51.100.7"),
		from(denied, get("fenced with a spoofed address", "/fenced/prod/x", "X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1")),
		get("walled", "/walled/prod/x"),
		get("walled with a key", "/walled/prod/x", key(keys["active"])),
		from(denied, get("key for another address", prod+"/x", key(keys["nearby"]))),
		from(denied, get("key for another address with a spoofed one", prod+"/x", key(keys["nearby"]), "X-Forwarded-For: 127.0.0.1")),
		from(denied, get("key for any address", prod+"/x", key(keys["active"]))),
		get("key for addresses far away at the fence", "/fenced/prod/x", key(keys["faraway"])),
		get("key for addresses far away in the wrong environment", "/1.0.0/dev/x", key(keys["faraway"])),
		get("key for addresses here in every environment", "/1.0.0/dev/x", key(keys["nearby"])),
	}
}

// limitHeaders are about what callers are told; refusals have tests of their own.
func limitHeaders(keys map[string]sample.Plain) []Case {
	const tell = "X-Tell: limits" // has the upstream say something else
	return []Case{
		get("limits of the key", prod+"/x", key(keys["limited"])),
		get("limits of the key, again", prod+"/x", key(keys["limited"])),
		get("limits of the type", prod+"/x", key(keys["writer"])),
		get("no limits of the key", prod+"/x", key(keys["unlimited"])),
		get("limits of the owner", "/2.0.0/prod/x"),
		get("limits of nobody", "/open/prod/x"),
		from("127.0.0.3", get("limits of another address", "/open/prod/x")),
		get("limits that the upstream tells", prod+"/x", key(keys["limited"]), tell),
		get("limits that the upstream tells nobody", "/open/prod/x", tell),
		get("limits after a bad key", prod+"/x", "X-API-Key: bad", tell),
	}
}

func spoofedHeaders(keys map[string]sample.Plain) []Case {
	var out []Case
	spellings := map[string]func(string) string{
		"as is":       func(s string) string { return s },
		"lower case":  strings.ToLower,
		"underscores": func(s string) string { return strings.ReplaceAll(s, "-", "_") },
		"one underscore": func(s string) string {
			return strings.ToUpper(strings.Replace(s, "-", "_", 1))
		},
	}
	names := make([]string, 0, len(spellings))
	for name := range spellings {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, spelling := range names {
		var lines []string
		for _, header := range policy.IdentityHeaders() {
			lines = append(lines, spellings[spelling](header)+": spoofed")
		}
		twice := append(slices.Clone(lines), lines...)
		out = append(out,
			get("spoofed "+spelling+" with a key", prod+"/x", append(slices.Clone(lines), key(keys["noscopes"]))...),
			get("spoofed "+spelling+" twice with a key", prod+"/x", append(twice, key(keys["writer"]))...),
			get("spoofed "+spelling+" at fallback", "/2.0.0/prod/x", lines...),
			get("spoofed "+spelling+" at open", "/open/prod/x", lines...),
			get("spoofed "+spelling+" at optional", "/v3-optional/prod/x", lines...))
	}
	return append(out,
		get("names that only resemble ours", prod+"/x", key(keys["active"]),
			"X-Consumer: 1", "X-Consumer-IDs: 2", "Consumer-ID: 3", "X-Consumer-ID-2: 4", "XConsumer-ID: 5", "X-Tenant: 6"))
}

func forwardingHeaders(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	all := []string{k, "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example", "X-Forwarded-Port: 1", "X-Forwarded-Path: /evil",
		"X-Forwarded-Prefix: /evil", "X-Real-IP: 1.2.3.4"}
	under := []string{k, "X_Forwarded_Proto: https", "X_Forwarded_Host: evil.example", "X_Forwarded_Port: 1", "X_Forwarded_Path: /evil",
		"X_Forwarded_Prefix: /evil", "X_Real_IP: 1.2.3.4", "X_Real-IP: 1.2.3.4"}
	return []Case{
		get("forwarded for", prod+"/x", k, "X-Forwarded-For: 1.2.3.4"),
		get("forwarded for list", prod+"/x", k, "X-Forwarded-For: 1.2.3.4, 5.6.7.8"),
		get("forwarded for twice", prod+"/x", k, "X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: 5.6.7.8"),
		get("forwarded others", prod+"/x", all...),
		get("forwarded others with underscores", prod+"/x", under...),
		get("forwarded of RFC 7239", prod+"/x", k, "Forwarded: for=1.2.3.4;proto=https"),
		get("via", prod+"/x", k, "Via: 1.1 proxy.example"),
		get("forwarded at open", "/open/prod/x", all[1:]...),
		one("forwarded host with port", "GET", projectHost+":8080", prod+"/x", k),
		one("forwarded host in upper case", "GET", "SHOP.LOCALHOST", prod+"/x", k),
		one("forwarded prefix in path form", "GET", bareHost, "/shop"+prod, k),
		get("forwarded path is as sent", "/1.0.0//prod/%2e/a%2fb?q=1", k),
	}
}

// identityNamedAway tries to have the gateway remove its own headers as
// hop-by-hop ones (RFC 9110 section 7.6.1).
func identityNamedAway(keys map[string]sample.Plain) []Case {
	k := key(keys["writer"])
	return []Case{
		get("connection names the consumer", prod+"/x", k, "Connection: X-Consumer-ID"),
		get("connection names every identity header", prod+"/x", k, "Connection: "+strings.ToLower(strings.Join(policy.IdentityHeaders(), ", "))),
		get("connection names identity and another", prod+"/x", k, "Connection: keep-alive, X-Tenant-ID, X-Mine", "X-Mine: 1"),
	}
}

func hopByHop(keys map[string]sample.Plain) []Case {
	k := key(keys["writer"])
	return []Case{
		get("connection names a header", prod+"/x", k, "Connection: X-Mine", "X-Mine: 1", "X-Other: 2"),
		get("connection names two headers", prod+"/x", k, "Connection: X-Mine, X-Other", "X-Mine: 1", "X-Other: 2"),
		get("connection names the key", prod+"/x", k, "Connection: X-API-Key"),
		get("connection names the key header at open", "/open/prod/x", k, "Connection: X-API-Key"),
		get("connection names forwarded for", prod+"/x", k, "Connection: X-Forwarded-For, X-Real-IP, Via"),
		get("connection close", prod+"/x", k, "Connection: close"),
		get("keep-alive", prod+"/x", k, "Connection: keep-alive", "Keep-Alive: timeout=5"),
		get("te trailers", prod+"/x", k, "TE: trailers"),
		get("te gzip", prod+"/x", k, "TE: gzip"),
		get("te both", prod+"/x", k, "TE: gzip, trailers"),
		get("proxy headers", prod+"/x", k, "Proxy: http://evil.example", "Proxy-Connection: keep-alive", "Proxy-Authorization: Basic eA=="),
	}
}
