//go:build conformance

package conformance

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/idp"
	"postern/testkit/sample"
)

// tokenProject has a version that accepts tokens only, one that accepts keys too, one that
// falls back to an owner, and one that lets calls without credentials through.
func tokenProject(up *upstream, pairs ...snapshot.TokenIssuer) (*snapshot.Project, map[string]sample.Plain) {
	both := []string{snapshot.APIKey, snapshot.JWT}
	project, keys := sample.Fresh(up.url, snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: both[1:],
		Keyless: snapshot.Reject,
		JWT:     &snapshot.AllowedPairs{AllowedPairs: pairs},
	}})
	project.FallbackOwner = "fallback-owner"
	project.Limits.Owner = snapshot.Limits{snapshot.Hour: 100_000}
	project.Tenants = append(project.Tenants, snapshot.Tenant{
		ID: "tnt_2", Name: "acme", FallbackOwner: "acme-fallback",
	})
	add := func(name string, mode string, methods []string, keyless string) {
		project.Versions = append(project.Versions, snapshot.Version{
			ID:   "ver_" + name,
			Name: name,
			Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode: mode, Methods: methods, Keyless: keyless, JWT: &snapshot.AllowedPairs{AllowedPairs: pairs},
			}},
			Environments: []snapshot.Environment{{ID: "env_" + name, Name: "prod", Target: up.url}},
		})
	}
	add("either", snapshot.Authenticate, both, snapshot.Reject)
	add("fallback", snapshot.Authenticate, both, snapshot.OwnerFallback)
	add("open", snapshot.Passthrough, both, snapshot.Reject)
	return project, keys
}

// placesOfTokens are the addresses of tokenProject's versions.
var placesOfTokens = []string{prod, "/either/prod", "/fallback/prod", "/open/prod"}

// tokensOf are calls with tokens of the issuer, by name, that are accepted for one pair of
// it and refused for another reason each.
func tokensOf(t *testing.T, of *idp.Issuer) map[string]string {
	rs, es := idp.KeyOf(jose.RS256, "r"), idp.KeyOf(jose.ES256, "e")
	forger := idp.KeyOf(jose.RS256, "forger")
	with := func(name string, value any) string { return rs.Sign(t, nil, of.Claims(idp.WithClaim(name, value))) }
	head := func(name jose.HeaderKey, value any) string {
		return rs.Sign(t, map[jose.HeaderKey]any{name: value}, of.Claims())
	}
	as := func(kid string, algorithm jose.SignatureAlgorithm, k idp.Key) string {
		return idp.Key{ID: kid, Algorithm: algorithm, Private: k.Private}.Sign(t, nil, of.Claims())
	}
	twice := func(member string) string {
		text, err := json.Marshal(of.Claims())
		if err != nil {
			t.Fatal(err)
		}
		return rs.Sign(t, nil, strings.Replace(string(text), "{", "{"+member+",", 1))
	}
	good := rs.Sign(t, nil, of.Claims())
	now, out := of.Now, brokenTokens(good)
	for name, member := range oddClaims {
		out[name] = twice(member)
	}
	maps.Copy(out, map[string]string{
		"RS256":                    good,
		"ES256":                    es.Sign(t, nil, of.Claims()),
		"of the second tenant":     with("aud", []string{"x", "acme"}),
		"of a tenant that is gone": with("aud", "gone"),
		"scp as a list": rs.Sign(t, nil,
			of.Claims(idp.WithClaim("scope", nil), idp.WithClaim("scp", []string{"a", "b"}))),
		"no scope":                  with("scope", nil),
		"scope in two claims":       with("scp", "third fourth"),
		"a clock behind":            with("exp", now.Add(-30*time.Second).Unix()),
		"a clock ahead":             with("nbf", now.Add(30*time.Second).Unix()),
		"fractions of a second":     with("exp", float64(now.Unix())+0.5),
		"no typ":                    head("typ", nil),
		"typ JWT":                   head("typ", "JWT"),
		"application/at+jwt":        head("typ", "application/AT+JWT"),
		"jku and x5u":               head("jku", "http://127.0.0.1:1/"),
		"nested duplicates":         twice(`"x":{"a":1,"a":2,"s":"\"}{"}`),
		"expired":                   with("exp", now.Add(-2*time.Minute).Unix()),
		"no exp":                    with("exp", nil),
		"exp as text":               with("exp", "tomorrow"),
		"not yet":                   with("nbf", now.Add(3*time.Minute).Unix()),
		"issued in the future":      with("iat", now.Add(time.Hour).Unix()),
		"another audience":          with("aud", "https://api.example.com.evil.example"),
		"no audience":               with("aud", nil),
		"another issuer":            with("iss", "https://unknown.example"),
		"iss as a list":             with("iss", []string{of.URL}),
		"no sub":                    with("sub", nil),
		"sub is a number":           with("sub", 7),
		"sub with a line break":     with("sub", "alice\r\nX-Consumer-Username: root"),
		"sub that is not ASCII":     with("sub", "alíce"),
		"sub with a blank behind":   with("sub", "alice "),
		"sub of 255 bytes":          with("sub", strings.Repeat("a", 255)),
		"sub of 256 bytes":          with("sub", strings.Repeat("a", 256)),
		"scope with a control":      with("scp", []string{"read\x01"}),
		"scope with a quote":        with("scope", `a"b`),
		"scope is an object":        with("scope", map[string]any{}),
		"scopes without end":        with("scope", strings.Repeat("scope ", 700)),
		"iss twice":                 twice(`"iss":"https://unknown.example"`),
		"sub twice, escaped":        twice(`"\u0073ub":"root"`),
		"forged, known kid":         as("r", jose.RS256, forger),
		"forged, unknown kid":       as("no one", jose.RS256, forger),
		"RS256 under the EC kid":    as("e", jose.RS256, rs),
		"PS256 with a key of RS256": as("r", jose.PS256, rs),
		"no kid":                    head("kid", nil),
		"crit":                      head("b64", false),
		"typ of a logout token":     head("typ", "logout+jwt"),
		"typ that isn't a text":     head("typ", 7),
		"a list":                    rs.Sign(t, nil, `[]`),
		"no JSON":                   rs.Sign(t, nil, `alice`),
	})
	for _, k := range []idp.Key{
		idp.KeyOf(jose.RS512, "r512"), idp.KeyOf(jose.PS256, "p"), idp.KeyOf(jose.PS384, "p3"),
		idp.KeyOf(jose.ES384, "e3"), idp.KeyOf(jose.EdDSA, "d"),
	} {
		out[string(k.Algorithm)] = k.Sign(t, nil, of.Claims())
	}
	return out
}

// oddClaims are members that stand before the other claims of a token.
var oddClaims = map[string]string{
	"a claim with an emoji":             `"name":"Ana \ud83d\ude00"`,
	"a claim that ends in an emoji":     `"name":"Ana \ud83d"`,
	"a claim with the end of an emoji":  `"name":"\ude00 Ana"`,
	"a claim with an emoji backward":    `"name":"\ude00\ud83d"`,
	"a claim with half an emoji in it":  `"name":"Ana \ud83dx"`,
	"a claim named by half an emoji":    `"\ud83d":1`,
	"half an emoji in a list":           `"names":[{"a":"\ud83d"}]`,
	"a claim that isn't UTF-8":          "\"name\":\"Ana \xff\"",
	"a claim with an encoded surrogate": "\"name\":\"Ana \xed\xa0\xbd\"",
	"a claim with an overlong slash":    "\"name\":\"\xc0\xaf\"",
	"a name that isn't UTF-8":           "\"\xff\":1",
	"a claim with a raw tab":            "\"name\":\"Ana\tB\"",
	"a claim with NUL":                  `"name":"Ana\u0000"`,
	"a claim of depth 50":               `"x":` + strings.Repeat("[", 50) + strings.Repeat("]", 50),
	"a claim of depth 1000":             `"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
	"a number without decimals":         `"x":1.`,
	"a number with a leading zero":      `"x":01`,
	"a number without an integer":       `"x":.5`,
	"a number with a plus":              `"x":+1`,
	"a hexadecimal number":              `"x":0x10`,
	"a number beyond all":               `"x":1e400`,
	"a number of 30 digits":             `"x":123456789012345678901234567890`,
	"a claim that isn't a number":       `"x":NaN`,
	"a claim without end":               `"x":Infinity`,
}

// brokenTokens are tokens that were changed on the way.
func brokenTokens(good string) map[string]string {
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"r"}`))
	root := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"root"}`))
	return map[string]string{
		"alg none":                  none + "." + parts[1] + ".",
		"alg none with a signature": none + "." + parts[1] + "." + parts[2],
		"no signature":              parts[0] + "." + parts[1] + ".",
		"half a signature":          parts[0] + "." + parts[1] + "." + parts[2][:40],
		"another payload":           parts[0] + "." + root + "." + parts[2],
		"padding":                   good + "==",
		"another spelling":          parts[0] + "." + parts[1] + "." + parts[2][:len(parts[2])-1] + "B",
		"two parts":                 parts[0] + "." + parts[1],
		"four parts":                good + ".x",
		"an opaque token":           "gho_16C7e42F292c6912E7710c838347Ae178B4a",
		"nothing":                   "",
	}
}

// startTokenIssuer runs an issuer with a key for each algorithm.
func startTokenIssuer(t *testing.T) *idp.Issuer {
	t.Helper()
	return idp.StartIssuer(t, time.Now(), idp.KeyOf(jose.RS256, "r"), idp.KeyOf(jose.RS512, "r512"),
		idp.KeyOf(jose.PS256, "p"), idp.KeyOf(jose.PS384, "p3"), idp.KeyOf(jose.ES256, "e"),
		idp.KeyOf(jose.ES384, "e3"), idp.KeyOf(jose.EdDSA, "d"))
}

// Both gateways accept and refuse the same tokens of the issuers that a version trusts,
// and tell the upstream the same about the caller.
func TestConformanceTokens(t *testing.T) {
	up, of := newUpstream(t), startTokenIssuer(t)
	project, keys := tokenProject(up,
		of.Pair(),
		snapshot.TokenIssuer{Issuer: of.URL, Audience: "acme", Tenant: "acme", JWKSURL: of.URL + "/jwks.json"},
		snapshot.TokenIssuer{Issuer: of.URL, Audience: "gone", Tenant: "gone"},
	)
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	postern := startPosternOf(t, up, project, keys)
	active := key(keys["active"])
	accepted, tokens := 0, tokensOf(t, of)
	both := func(c Case) {
		want := postern.send(c)
		if compare(t, c, postern, kong, want, kong.send(c)) && want.Status == http.StatusOK {
			accepted++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tokens)) {
		line := "Authorization: Bearer " + tokens[name]
		for _, at := range placesOfTokens {
			both(get(name+" at "+at, at+"/x", line))
		}
		both(get(name+" with a key", "/either/prod/x", line, active))
		both(get(name+" with a wrong key", "/either/prod/x", line, "X-API-Key: pst_wrong"))
	}
	good := tokens["RS256"]
	for _, at := range placesOfTokens {
		for name, lines := range map[string][]string{
			"no credential":     {},
			"lower-case scheme": {"authorization: bearer " + good},
			"tabs":              {"Authorization: \tBEARER \t " + good + " \t"},
			"another scheme":    {"Authorization: Basic YTpi"},
			"bearers":           {"Authorization: Bearers " + good},
			"bearer alone":      {"Authorization: Bearer"},
			"in the query":      {"X-Nothing: 1"},
			"spoofed": {
				"Authorization: Bearer " + good, "X-Authenticated-Userid: root", "X_Authenticated_Scope: all",
			},
			"key alone": {active},
		} {
			both(get(name+" at "+at, at+"/x?access_token="+good, lines...))
		}
	}
	if accepted < 100 {
		t.Errorf("%d calls were accepted, want at least 100", accepted)
	}
}

// Both gateways answer 503 while they have no keys of an issuer, and invented key IDs do
// not make them ask for keys again and again.
func TestConformanceTokens_issuerUnavailable(t *testing.T) {
	up, of := newUpstream(t), startTokenIssuer(t)
	good := "Authorization: Bearer " + idp.KeyOf(jose.RS256, "r").Sign(t, nil, of.Claims())
	forger := idp.KeyOf(jose.RS256, "invented")
	invented := "Authorization: Bearer " + forger.Sign(t, nil, of.Claims())
	of.AnswerWith(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	there := startTokenIssuer(t)
	project, keys := tokenProject(up, of.Pair(), there.Pair())
	kong, log := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	postern := startPosternOf(t, up, project, keys)
	for _, c := range []Case{
		get("away", prod+"/x", good), get("away, with a key", "/either/prod/x", good, key(keys["active"])),
		get("away, and open", "/open/prod/x", good), get("away, an unknown key", prod+"/x", invented),
	} {
		want := postern.send(c)
		compare(t, c, postern, kong, want, kong.send(c))
		if want.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d, want 503", c.Name, want.Status)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	said := "the keys of the token issuer " + of.URL + " cannot be fetched: the response has status 502"
	if !strings.Contains(string(text), said) {
		t.Error("Kong's log does not say why there are no keys")
	}
	known := "Authorization: Bearer " + idp.KeyOf(jose.ES256, "e").Sign(t, nil, there.Claims())
	unknown := "Authorization: Bearer " + forger.Sign(t, nil, there.Claims())
	for range 20 {
		for _, line := range []string{known, unknown} {
			c := get("invented", prod+"/x", line)
			compare(t, c, postern, kong, postern.send(c), kong.send(c))
		}
	}
	if n := there.Fetches(); n != 2 {
		t.Errorf("two gateways fetched the keys %d times, want once each", n)
	}
}
