package conformance

import (
	"fmt"
	"maps"

	"slices"
	"strings"

	"postern/core/policy"
	"postern/testkit/sample"
)

// namesOf sorts the names of the keys whose state both gateways answer alike.
func namesOf(keys map[string]sample.Plain) []string {
	names := slices.Sorted(maps.Keys(keys))
	return slices.DeleteFunc(names, func(name string) bool { return name == frozenOwner })
}

func keyStates(keys map[string]sample.Plain) []Case {
	var out []Case
	for _, name := range namesOf(keys) {
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

// keyStatesEverywhere presents every key at every route, by a path and by several
// methods.
func keyStatesEverywhere(keys map[string]sample.Plain) []Case {
	var out []Case
	for _, name := range namesOf(keys) {
		k := key(keys[name])
		for _, at := range []string{"/1.0.0/dev", "/2.0.0/prod", "/fenced/prod", "/open/prod", "/v3-optional/prod",
			"/walled/prod"} {
			out = append(out, get("key "+name+" at "+at, at+"/x", k))
		}
		out = append(out,
			one("key "+name+" in path form", "GET", bareHost, "/shop"+prod+"/x", k),
			one("key "+name+" to HEAD", "HEAD", projectHost, prod+"/x", k),
			withBody("key "+name+" to POST", "POST", projectHost, prod+"/x", "hello", k, length(5)),
			from("127.0.0.2", get("key "+name, prod+"/x", k)))
	}
	return out
}

// frozenOwners presents the key of a frozen user.
func frozenOwners(keys map[string]sample.Plain) []Case {
	k := key(keys[frozenOwner])
	return []Case{
		get("key of a frozen user", prod+"/x", k),
		get("key of a frozen user at fallback", "/2.0.0/prod/x", k),
		get("key of a frozen user at optional", "/v3-optional/prod/x", k),
		one("key of a frozen user in path form", "GET", bareHost, "/shop"+prod+"/x", k),
		one("key of a frozen user to HEAD", "HEAD", projectHost, prod+"/x", k),
		withBody("key of a frozen user to POST", "POST", projectHost, prod+"/x", "hello", k, length(5)),
		from("127.0.0.2", get("key of a frozen user", "/fenced/prod/x", k)),
		get("key of a frozen user in the wrong environment", "/1.0.0/dev/x", k),
		get("key of a frozen user twice", prod+"/x", k, k),
		get("key of a frozen user at open", "/open/prod/x", k),
	}
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
		get("key next to x_api_key", prod+"/x", "X-API-Key: "+k, "x_api_key: other"),
		get("key in lower case header", prod+"/x", "x-api-key: "+k),
		get("key in upper case header", prod+"/x", "X-API-KEY: "+k),
		get("key twice", prod+"/x", "X-API-Key: "+k, "X-API-Key: "+k),
		get("key twice in two cases", prod+"/x", "X-API-Key: "+k, "x-api-key: "+k),
		get("key and a bad one", prod+"/x", "X-API-Key: "+k, "X-API-Key: bad"),
		get("bad one and key", prod+"/x", "X-API-Key:", "X-API-Key: "+k),
		get("two keys in one line", prod+"/x", "X-API-Key: "+k+", "+k),
		get("key next to authorization", prod+"/x", "X-API-Key: "+k, "Authorization: Bearer upstreams-own"),
		withBody("key in a form", "POST", projectHost, prod+"/x", "api_key="+k,
			"Content-Type: application/x-www-form-urlencoded", fmt.Sprintf("Content-Length: %d", len("api_key="+k))),
	}
}

func malformedKeys(keys map[string]sample.Plain) []Case {
	active := keys["active"]
	k := active.Plaintext
	made := map[string]string{
		"empty": "", "blanks": "   ", "word": "secret", "leaked hash": fmt.Sprintf("%x", active.Hash),
		"leaked hash in upper case": fmt.Sprintf("%X", active.Hash),
		"leaked hash with prefix":   fmt.Sprintf("pst_prod_%x", active.Hash),
		"truncated":                 k[:len(k)-1], "lengthened": k + "0", "wrong check": k[:len(k)-1] + "!",
		"check of another": k[:len(k)-6] + keys["dev"].Plaintext[len(keys["dev"].Plaintext)-6:],
		"upper case":       strings.ToUpper(k), "quoted": `"` + k + `"`, "bearer": "Bearer " + k,
		"with blanks around": "  " + k + "  ", "with tab": "\t" + k, "inner blank": k[:20] + " " + k[20:],
		"two underscores": strings.Replace(k, "_", "__", 1), "non-ASCII": k[:len(k)-1] + "é",
		"percent-encoded": strings.Replace(k, "_", "%5F", 1),
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
		get("fenced with a spoofed address", "/fenced/prod/x", "X-Forwarded-For: 198.51.100.7",
			"X-Real-IP: 198.51.100.7"),
		from(denied, get("fenced with a spoofed address", "/fenced/prod/x", "X-Forwarded-For: 127.0.0.1",
			"X-Real-IP: 127.0.0.1")),
		get("walled", "/walled/prod/x"),
		get("walled with a key", "/walled/prod/x", key(keys["active"])),
		from(denied, get("key for another address", prod+"/x", key(keys["nearby"]))),
		from(denied, get("key for another address with a spoofed one", prod+"/x", key(keys["nearby"]),
			"X-Forwarded-For: 127.0.0.1")),
		from(denied, get("key for any address", prod+"/x", key(keys["active"]))),
		get("key for addresses far away at the fence", "/fenced/prod/x", key(keys["faraway"])),
		get("key for addresses far away in the wrong environment", "/1.0.0/dev/x", key(keys["faraway"])),
		get("key for addresses here in every environment", "/1.0.0/dev/x", key(keys["nearby"])),
	}
}

// limitHeaders are informational headers; refusals have their own tests.
func limitHeaders(keys map[string]sample.Plain) []Case {
	const tell = "X-Tell: limits" // has the upstream say something else
	return []Case{
		get("limits of the key", prod+"/x", key(keys["limited"])),
		get("limits of the key, again", prod+"/x", key(keys["limited"])),
		get("limits of the type", prod+"/x", key(keys["writer"])),
		get("no limits of the key", prod+"/x", key(keys["unlimited"])),
		get("limits of the owner", "/2.0.0/prod/x"),
		get("limits of an anonymous caller", "/open/prod/x"),
		from("127.0.0.3", get("limits of another address", "/open/prod/x")),
		get("limits that the upstream tells", prod+"/x", key(keys["limited"]), tell),
		get("limits that the upstream tells an anonymous caller", "/open/prod/x", tell),
		get("limits after a bad key", prod+"/x", "X-API-Key: bad", tell),
	}
}
