//go:build conformance

package conformance

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/testkit"
	"postern/testkit/idp"
)

// realmIssuer is where the exported realm is served for browsers. Kong cannot reach it
// there: LOGIN_KEYS says where it can, as in the exported compose file.
const realmIssuer = "https://login.example.invalid/realms/shop"

// realmClaims are the claims of an access token of the exported realm, as Keycloak 26.3.5
// writes them.
func realmClaims(edits ...func(map[string]any)) map[string]any {
	now := time.Now()
	out := map[string]any{
		// Keycloak writes these for every client (org.keycloak.representations.AccessToken).
		"exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "auth_time": now.Unix(), "jti": "onrtac:1",
		"iss": realmIssuer, "typ": "Bearer", "azp": "cli_1", "sid": "a-session-of-keycloak", "acr": "1",
		"allowed-origins": []string{"https://app.example"}, "client_id": "cli_1",
		"aud": []string{"cli_1", "account"}, // mapper "postern audience"; "account" by the client scope roles
		"sub": "usr_1",                      // client scope basic: the id of the user
		// Client scope roles.
		"realm_access":    map[string]any{"roles": []string{"offline_access", "default-roles-shop"}},
		"resource_access": map[string]any{"account": map[string]any{"roles": []string{"view-profile"}}},
		"scope":           "openid email profile",
		// Client scopes profile and email.
		"name": "Ana Gomez", "preferred_username": "usr_1", "email": "ana@example.com", "email_verified": true,
		"tenant":   "tnt_1",                                      // mapper "postern tenant"
		"groups":   []string{"/default/staff/eu", "/default/eu"}, // mapper "postern groups"
		"provider": "idp_1",                                      // mapper "postern provider"
	}
	for _, edit := range edits {
		edit(out)
	}
	return out
}

// realmCall is a call with a token of the realm and how the exported gateway answers it.
type realmCall struct {
	token  string
	status int
	code   string
	groups string // for the upstream
}

func accepted(token, groups string) realmCall { return realmCall{token, http.StatusOK, "", groups} }

func refused(token string) realmCall {
	return realmCall{token, http.StatusUnauthorized, "invalid_token", ""}
}

func realmCalls(t *testing.T) map[string]realmCall {
	t.Helper()
	k, with, now := idp.KeyOf(jose.RS256, "r"), idp.WithClaim, time.Now()
	sign := func(edits ...func(map[string]any)) string { return k.Sign(t, nil, realmClaims(edits...)) }
	as := func(kid string, algorithm jose.SignatureAlgorithm) string {
		return idp.KeyOf(algorithm, kid).Sign(t, nil, realmClaims())
	}
	forger := idp.KeyOf(jose.RS256, "forger")
	const both = "eu, staff"
	second := sign(with("azp", "cli_2"), with("aud", "cli_2"), with("tenant", "tnt_2"),
		with("groups", []string{"/acme/staff", "/default/root"}))
	id := realmClaims(with("typ", "ID"), with("tenant", nil), with("groups", nil))
	forged := idp.Key{ID: k.ID, Algorithm: k.Algorithm, Private: forger.Private}.Sign(t, nil, realmClaims())
	inGroups := func(paths ...string) string { return sign(with("groups", paths)) }
	out := map[string]realmCall{
		"of a user":              accepted(sign(), both),
		"ES256":                  accepted(as("e", jose.ES256), both),
		"EdDSA":                  accepted(as("d", jose.EdDSA), both),
		"typ JWT":                accepted(k.Sign(t, map[jose.HeaderKey]any{"typ": "JWT"}, realmClaims()), both),
		"of the second tenant":   accepted(second, "staff"),
		"of no provider":         accepted(sign(with("provider", nil)), both),
		"groups of three levels": accepted(inGroups("/default/staff/north/nights"), "nights, north, staff"),
		"two groups of one name": accepted(inGroups("/default/a/x", "/default/b/x"), "a, b, x"),
		"groups of two tenants":  accepted(inGroups("/acme/root", "/default/staff", "/defaults/root"), "staff"),
		"no group":               accepted(inGroups(), ""),
		"without groups":         accepted(sign(with("groups", nil)), ""),
		"a group with a comma":   accepted(inGroups("/default/a, b"), ""),
		"the tenant's own group": accepted(inGroups("/default"), ""),
		"a clock ahead":          accepted(sign(with("nbf", now.Add(30*time.Second).Unix())), both),
		// The realm knows who is frozen now: it has signed these in.
		"of a user who was frozen":    accepted(sign(with("sub", "usr_frozen")), both),
		"of a session that had ended": accepted(sign(with("sid", "ses_ended")), both),
		"of a frozen app client": {
			sign(with("azp", "cli_3"), with("aud", "cli_3")), http.StatusForbidden, "client_frozen", "",
		},
		"a wrong azp":               refused(sign(with("azp", "cli_2"))),
		"an azp of no app client":   refused(sign(with("azp", "account-console"))),
		"without an azp":            refused(sign(with("azp", nil))),
		"an azp that is a list":     refused(sign(with("azp", []string{"cli_1"}))),
		"for another audience":      refused(sign(with("aud", "account"))),
		"a wrong tenant":            refused(sign(with("tenant", "tnt_2"))),
		"without a tenant":          refused(sign(with("tenant", nil))),
		"groups as a text":          refused(sign(with("groups", "/default/staff"))),
		"groups as an object":       refused(sign(with("groups", map[string]string{"a": "/default/staff"}))),
		"expired":                   refused(sign(with("exp", now.Add(-2*time.Minute).Unix()))),
		"without an end":            refused(sign(with("exp", nil))),
		"of a wrong issuer":         refused(sign(with("iss", "https://login.example.invalid/realms/master"))),
		"of an issuer with a slash": refused(sign(with("iss", realmIssuer+"/"))),
		"a logout token":            refused(k.Sign(t, map[jose.HeaderKey]any{"typ": "logout+jwt"}, realmClaims())),
		"an ID token":               refused(k.Sign(t, map[jose.HeaderKey]any{"typ": "JWT"}, id)),
		"sub with a line break":     refused(sign(with("sub", "usr_1\r\nX-Consumer-Username: root"))),
		"forged":                    refused(forged),
		"an unknown key":            refused(forger.Sign(t, nil, realmClaims())),
		"HS256 with the public key": refused(signedWithPublicKey(t, k)),
	}
	for name, token := range brokenTokens(sign()) {
		out[name] = refused(token)
	}
	return out
}

// signedWithPublicKey returns a token whose secret is the public key of k, which a verifier
// that lets tokens choose their algorithm would take (RFC 8725, 2.1).
func signedWithPublicKey(t *testing.T, k idp.Key) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(k.Private.Public())
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	options := (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", k.ID)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret}, options)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(realmClaims())
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// realmFolder exports a project whose app clients' tokens open it.
func realmFolder(t *testing.T, up *upstream) string {
	t.Helper()
	project, keys := tokenProject(up)
	withAppClients(t, project)
	return exportOf(t, project, keys, bundle.Options{Consumers: true})
}

// send sends a call with a token of the realm to Kong and checks the outcome.
func (c realmCall) send(t *testing.T, kong *peer, path string, lines ...string) {
	t.Helper()
	out := kong.send(get("realm", path+"/x", append(lines, "Authorization: Bearer "+c.token)...))
	if out.Status != c.status || out.Code != c.code {
		t.Fatalf("%s: %d %s %s, want %d %s", path, out.Status, out.Code, out.ConnectionErr, c.status, c.code)
	}
	if c.status != http.StatusOK {
		if len(out.Seen) != 0 {
			t.Errorf("%s: the upstream got the refused call", path)
		}
		return
	}
	if len(out.Seen) != 1 || out.Seen[0].Headers.Get("X-Consumer-Groups") != c.groups {
		t.Errorf("%s: the upstream saw %v, want the groups %q", path, out.Seen, c.groups)
	}
}

// A real Kong accepts and refuses tokens as Keycloak writes them for the exported realm.
func TestConformanceRealm_tokens(t *testing.T) {
	t.Parallel()
	up, of := newUpstream(t), startTokenIssuer(t)
	kong, _ := startKong(t, realmFolder(t, up), up, "LOGIN_ISSUER="+realmIssuer, "LOGIN_KEYS="+of.URL+"/jwks.json")
	calls := realmCalls(t)
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		t.Run(name, func(t *testing.T) {
			for _, at := range placesOfTokens {
				calls[name].send(t, kong, at, "X-Consumer-Groups: forged", "X-Authenticated-Userid: root")
			}
		})
	}
	if n := of.Fetches(); n != 1 {
		t.Errorf("the keys were fetched %d times for %d calls, want once", n, len(calls)*len(placesOfTokens))
	}
	sameCaller(t, kong)
}

// sameCaller checks that the upstream sees the same caller with a token of the realm as with the
// user's token of the app client.
func sameCaller(t *testing.T, kong *peer) {
	t.Helper()
	users := idp.KeyOf(jose.RS256, "r").Sign(t, nil, realmClaims(
		idp.WithClaim("scope", "openid orders:read"), idp.WithClaim("groups", []string{"/default/staff/eu"})))
	machines := idp.KeyOf(jose.RS256, "r").Sign(t, nil, realmClaims(
		idp.WithClaim("sub", "cli_1"), idp.WithClaim("provider", nil), idp.WithClaim("groups", nil),
		idp.WithClaim("scope", "openid orders:read")))
	own := ownTokens(t)
	for name, pair := range map[string][2]string{
		"a user":    {own["in sorted groups"], users},
		"a machine": {own["of a machine"], machines},
	} {
		for _, at := range placesOfTokens {
			t.Run(name+" at "+at, func(t *testing.T) {
				var saw [2]http.Header
				for i, token := range pair {
					out := comparable(kong, kong.send(get(name, at+"/x", "Authorization: Bearer "+token)))
					if len(out.Seen) != 1 {
						t.Fatalf("token %d: %d %s", i, out.Status, out.Code)
					}
					saw[i] = out.Seen[0].Headers
					saw[i].Del("Authorization")
				}
				if diff := cmp.Diff(saw[0], saw[1]); diff != "" {
					t.Errorf("the upstream sees another caller (-app client's +realm's):\n%s", diff)
				}
			})
		}
	}
}

// Without LOGIN_ISSUER no token of a realm is accepted, and nothing is fetched. Tokens of app clients are.
func TestConformanceRealm_notTrusted(t *testing.T) {
	t.Parallel()
	up, of := newUpstream(t), startTokenIssuer(t)
	folder := realmFolder(t, up)
	for name, settings := range map[string][]string{
		"unset":             nil,
		"empty":             {"LOGIN_ISSUER=", "LOGIN_KEYS="},
		"keys alone":        {"LOGIN_ISSUER=", "LOGIN_KEYS=" + of.URL + "/jwks.json"},
		"an issuer of more": {"LOGIN_ISSUER=" + realmIssuer + "s", "LOGIN_KEYS=" + of.URL + "/jwks.json"},
	} {
		t.Run(name, func(t *testing.T) {
			kong, _ := startKong(t, folder, up, settings...)
			k := idp.KeyOf(jose.RS256, "r")
			for _, edit := range []func(map[string]any){
				idp.WithClaim("sub", "usr_1"), idp.WithClaim("iss", nil), idp.WithClaim("iss", ""),
			} {
				for _, at := range placesOfTokens {
					refused(k.Sign(t, nil, realmClaims(edit))).send(t, kong, at)
				}
			}
			accepted(ownTokens(t)["in sorted groups"], "eu, staff").send(t, kong, prod)
		})
	}
	if n := of.Fetches(); n != 0 {
		t.Errorf("keys of an issuer that is not trusted were fetched %d times", n)
	}
}

// While the realm is away its tokens get 503, and once it is back they are accepted.
func TestConformanceRealm_unavailable(t *testing.T) {
	t.Parallel()
	up, of := newUpstream(t), startTokenIssuer(t)
	var away atomic.Bool
	away.Store(true)
	of.AnswerWith(func(w http.ResponseWriter, _ *http.Request) bool {
		if away.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
		return away.Load()
	})
	kong, log := startKong(t, realmFolder(t, up), up, "LOGIN_ISSUER="+of.URL, "LOGIN_KEYS=")
	token := idp.KeyOf(jose.RS256, "r").Sign(t, nil, realmClaims(idp.WithClaim("iss", of.URL)))
	unavailable := realmCall{token, http.StatusServiceUnavailable, "issuer_unavailable", ""}
	for _, at := range placesOfTokens {
		unavailable.send(t, kong, at)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	said := "the keys of the token issuer " + of.URL + " cannot be fetched: the response has status 502"
	if !strings.Contains(string(text), said) {
		t.Error("Kong's log does not say why there are no keys")
	}
	away.Store(false)
	becomes(t, kong, accepted(token, "eu, staff"), unavailable)
}

// After the realm has changed its keys, Kong asks it for them once the last time is half a
// minute ago, and for invented ones no sooner. It discovers where they are.
func TestConformanceRealm_keys(t *testing.T) {
	t.Parallel()
	up, of := newUpstream(t), startTokenIssuer(t)
	kong, _ := startKong(t, realmFolder(t, up), up, "LOGIN_ISSUER="+of.URL, "LOGIN_KEYS=")
	issued, fresh := idp.WithClaim("iss", of.URL), idp.KeyOf(jose.RS256, "fresh")
	old := idp.KeyOf(jose.RS256, "r").Sign(t, nil, realmClaims(issued))
	moved := fresh.Sign(t, nil, realmClaims(issued))
	accepted(old, "eu, staff").send(t, kong, prod)
	of.Publish(fresh)
	for range 20 {
		refused(moved).send(t, kong, prod) // the keys were fetched just now
	}
	if n := of.Fetches(); n != 1 {
		t.Errorf("unknown key ids had the keys fetched %d times within half a minute", n-1)
	}
	becomes(t, kong, accepted(moved, "eu, staff"), refused(moved))
	refused(old).send(t, kong, prod) // its key no longer exists
	if n := of.Fetches(); n != 2 {
		t.Errorf("new keys were fetched %d times, want once", n-1)
	}
}

// becomes sends the call until the answer is the one wanted; until then it is before.
func becomes(t *testing.T, kong *peer, want, before realmCall) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("the answer %d", want.status), func() bool {
		out := kong.send(get("realm", prod+"/x", "Authorization: Bearer "+want.token))
		if out.Status != want.status && (out.Status != before.status || out.Code != before.code) {
			t.Fatalf("%d %s before it is %d", out.Status, out.Code, want.status)
		}
		return out.Status == want.status
	})
}
