package bearer_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/bearer"
	"postern/testkit"
)

const postern = "https://postern.example"

// appClients are the app clients of a gateway, by issuer.
type appClients map[string]*snapshot.AppClient

func (a appClients) Client(issuer string) *snapshot.AppClient { return a[issuer] }

func (a appClients) add(t testing.TB, id string, keys ...key) *snapshot.AppClient {
	t.Helper()
	client := &snapshot.AppClient{ID: id, Issuer: snapshot.IssuerOf(postern, id), TenantID: "tnt_" + id}
	for _, k := range keys {
		text, err := k.Public().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		client.Keys = append(client.Keys, snapshot.SigningKey{
			ID:        k.ID,
			Algorithm: string(k.Algorithm),
			JWK:       string(text),
		})
	}
	a[client.Issuer] = client
	return client
}

// ownClaims returns the claims of a valid access token of a client, after the edits.
func ownClaims(client *snapshot.AppClient, edits ...func(map[string]any)) map[string]any {
	out := map[string]any{
		"iss":       client.Issuer,
		"sub":       "usr_1",
		"aud":       client.ID,
		"client_id": client.ID,
		"tenant":    client.TenantID,
		"jti":       "jti_1",
		"sid":       "ses_1",
		"scope":     "openid email",
		"provider":  "idp_1",
		"upstream":  "service",
		"groups":    []string{"staff", "admins"},
		"iat":       now.Unix(),
		"exp":       now.Add(10 * time.Minute).Unix(),
	}
	for _, edit := range edits {
		edit(out)
	}
	return out
}

// offline returns a verifier that fails the test if it sends a request.
func offline(t testing.TB) *bearer.Verifier {
	t.Helper()
	v := bearer.New(&http.Client{Transport: noRoundTrips{t}}, slog.New(slog.DiscardHandler))
	t.Cleanup(v.Close)
	return v
}

type noRoundTrips struct{ t testing.TB }

func (n noRoundTrips) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("%s was requested, though no key is missing", r.URL)
	return nil, http.ErrUseLastResponse
}

func TestVerify_ownTokens(t *testing.T) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA} {
		t.Run(string(algorithm), func(t *testing.T) {
			known, k, next := appClients{}, keyOf(algorithm, "sig_1"), keyOf(algorithm, "sig_2")
			client := known.add(t, "cli_1", k, next)
			v := offline(t)
			want := policy.Token{
				Issuer:  client.Issuer,
				Subject: "usr_1",
				Scopes:  []string{"openid", "email"},
				Expires: now.Add(10 * time.Minute),
				Hosted: policy.Hosted{
					Client:   "cli_1",
					ID:       "jti_1",
					Session:  "ses_1",
					GroupsAt: now.Unix(),
					Provider: "idp_1",
					Groups:   []string{"staff", "admins"},
					Carries:  snapshot.ServiceToken,
				},
			}
			for name, token := range map[string]string{
				"the signing key": k.Sign(t, nil, ownClaims(client)),
				"the next key":    next.Sign(t, nil, ownClaims(client)),
				"typ in full":     k.Sign(t, map[jose.HeaderKey]any{"typ": "application/at+jwt"}, ownClaims(client)),
			} {
				var got policy.Token
				if denial := v.Verify(t.Context(), token, policy.Issuers{Own: known}, now, &got); denial != accepted {
					t.Errorf("%s: %v", name, denial)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			var got policy.Token
			carrying := ownClaims(client, with("upstream", "provider_access_token"), with("upstream_token", "c2VhbGVk"))
			denial := v.Verify(t.Context(), k.Sign(t, nil, carrying), policy.Issuers{Own: known}, now, &got)
			wantDenial(t, "with a token for the upstream", denial, accepted)
			if got.Sealed != "c2VhbGVk" {
				t.Errorf("sealed token %q", got.Sealed)
			}
			if got.Carries != snapshot.ProviderAccessToken {
				t.Errorf("the sealed token is a %s", got.Carries)
			}
		})
	}
}

// The name of a group must not read as two names, or as another header.
func TestVerify_unlistableGroups(t *testing.T) {
	known, k := appClients{}, keyOf(jose.ES256, "sig_1")
	client := known.add(t, "cli_1", k)
	var got policy.Token
	groups := []string{"staff", "a,admins", "x\r\nX-Tenant-Id: y", "", " admins", "añb", "ops"}
	token := k.Sign(t, nil, ownClaims(client, with("groups", groups)))
	if denial := offline(t).Verify(t.Context(), token, policy.Issuers{Own: known}, now, &got); denial != accepted {
		t.Fatal(denial)
	}
	if diff := cmp.Diff([]string{"staff", "ops"}, got.Groups); diff != "" {
		t.Error(diff)
	}
}

// ownForgery is the source of forged tokens of an app client.
type ownForgery struct {
	known                         appClients
	client, other                 *snapshot.AppClient
	secret                        *snapshot.AppClient // has a private key for a public one
	rs, es, forger, theirs, ended key
	good                          string
	parts                         []string // of good
}

func newOwnForgery(t *testing.T) *ownForgery {
	t.Helper()
	f := &ownForgery{
		known:  appClients{},
		rs:     keyOf(jose.RS256, "sig_1"),
		es:     keyOf(jose.ES256, "sig_2"),
		theirs: keyOf(jose.RS256, "sig_3"),
		ended:  keyOf(jose.RS256, "sig_4"),
		forger: keyOf(jose.RS256, "forger"),
	}
	f.client, f.other = f.known.add(t, "cli_1", f.rs, f.es, f.ended), f.known.add(t, "cli_2", f.theirs)
	f.client.Keys[2].ExpiresAt = now
	f.secret = f.known.add(t, "cli_3", keyOf(jose.RS256, "sig_5"))
	private, err := json.Marshal(jose.JSONWebKey{Key: f.rs.Private, KeyID: "sig_5", Algorithm: "RS256"})
	if err != nil {
		t.Fatal(err)
	}
	f.secret.Keys[0].JWK = string(private)
	f.good = f.rs.Sign(t, nil, ownClaims(f.client))
	f.parts = strings.Split(f.good, ".")
	return f
}

func (f *ownForgery) headers(t *testing.T) map[string]string {
	t.Helper()
	public, err := f.rs.Public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	typ := func(value any) string {
		return f.rs.Sign(t, map[jose.HeaderKey]any{"typ": value}, ownClaims(f.client))
	}
	symmetric := func(key []byte) string {
		text := segment(map[string]string{"alg": "HS256", "typ": "at+jwt", "kid": "sig_1"}) + "." + f.parts[1]
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	algNone := segment(map[string]string{"alg": "none", "typ": "at+jwt", "kid": "sig_1"})
	otherHeader := segment(map[string]string{"alg": "RS256", "typ": "at+jwt", "kid": "sig_1", "x": "y"})
	otherPayload := segment(ownClaims(f.client, with("sub", "usr_2")))
	return map[string]string{
		"an ID token":                    f.rs.Sign(t, map[jose.HeaderKey]any{"typ": "JWT"}, ownClaims(f.client)),
		"no typ":                         typ(nil),
		"typ of a logout token":          typ("logout+jwt"),
		"alg none":                       algNone + "." + f.parts[1] + ".",
		"alg none with a signature":      algNone + "." + f.parts[1] + "." + f.parts[2],
		"HS256 with the public key, JWK": symmetric(public),
		"HS256 with the public key, PEM": symmetric(publicPEM(t, f.rs)),
		"another payload":                f.parts[0] + "." + otherPayload + "." + f.parts[2],
		"another header":                 otherHeader + "." + f.parts[1] + "." + f.parts[2],
		"half a signature":               f.parts[0] + "." + f.parts[1] + "." + f.parts[2][:40],
	}
}

func (f *ownForgery) keys(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"another key, known kid":         keyAs("sig_1", jose.RS256, f.forger).Sign(t, nil, ownClaims(f.client)),
		"kid of another client":          keyAs("sig_3", jose.RS256, f.rs).Sign(t, nil, ownClaims(f.client)),
		"key of another client":          f.theirs.Sign(t, nil, ownClaims(f.client)),
		"key of another client, our kid": keyAs("sig_1", jose.RS256, f.theirs).Sign(t, nil, ownClaims(f.client)),
		"no kid":                         f.rs.Sign(t, map[jose.HeaderKey]any{"kid": nil}, ownClaims(f.client)),
		"a kid that is not known":        f.forger.Sign(t, nil, ownClaims(f.client)),
		"a key that has ended":           f.ended.Sign(t, nil, ownClaims(f.client)),
		"RS256 under the kid of ES256":   keyAs("sig_2", jose.RS256, f.rs).Sign(t, nil, ownClaims(f.client)),
		"PS256 with a key for RS256":     keyAs("sig_1", jose.PS256, f.rs).Sign(t, nil, ownClaims(f.client)),
		"a key that isn't a public one":  keyAs("sig_5", jose.RS256, f.rs).Sign(t, nil, ownClaims(f.secret)),
	}
}

func (f *ownForgery) claims(t *testing.T) map[string]string {
	t.Helper()
	claim := func(name string, value any) string {
		return f.rs.Sign(t, nil, ownClaims(f.client, with(name, value)))
	}
	return map[string]string{
		"expired this second":            claim("exp", now.Unix()),
		"expired within the leeway":      claim("exp", now.Add(-30*time.Second).Unix()),
		"no exp":                         claim("exp", nil),
		"issued in the future":           claim("iat", now.Add(time.Hour).Unix()),
		"the audience of another client": claim("aud", f.other.ID),
		"no audience":                    claim("aud", nil),
		"the id of another client":       claim("client_id", f.other.ID),
		"no client id":                   claim("client_id", nil),
		"the tenant of another client":   claim("tenant", f.other.TenantID),
		"the issuer of another client":   claim("iss", f.other.Issuer),
		"the issuer with a slash":        claim("iss", f.client.Issuer+"/"),
		"no sub":                         claim("sub", nil),
		"a sub with a line break":        claim("sub", "usr_1\r\nX-Tenant-Id: tnt_2"),
		"groups that are not a list":     claim("groups", "admins"),
		"a scope with a control":         claim("scope", "openid\x01"),
	}
}

// The response to each of these is 401 invalid_token, even if the version names the
// issuer in a pair.
func TestVerify_forgedOwnTokens(t *testing.T) {
	f := newOwnForgery(t)
	pairs := map[string][]snapshot.TokenIssuer{
		"no pairs": nil,
		"named in a pair": {
			{Issuer: f.client.Issuer, Audience: f.client.ID},
			{Issuer: f.other.Issuer, Audience: f.other.ID},
		},
		"another's issuer": {{Issuer: "https://accounts.example", Audience: f.client.ID}},
	}
	v := offline(t)
	var got policy.Token
	if denial := v.Verify(t.Context(), f.good, policy.Issuers{Own: f.known}, now, &got); denial != accepted {
		t.Errorf("the token that the others are derived from: %v", denial)
	}
	for subject, tokens := range map[string]map[string]string{
		"header": f.headers(t),
		"key":    f.keys(t),
		"claim":  f.claims(t),
	} {
		for name, token := range tokens {
			for where, named := range pairs {
				t.Run(subject+"/"+name+"/"+where, func(t *testing.T) {
					var got policy.Token
					denial := v.Verify(t.Context(), token, policy.Issuers{Named: named, Own: f.known}, now, &got)
					if denial != policy.InvalidToken {
						t.Errorf("%v, %+v", denial, got)
					}
				})
			}
		}
	}
}

// The checks of a token other than its signature use the current state on the very next call.
func TestVerifyOwnTokens_again(t *testing.T) {
	known, k := appClients{}, keyOf(jose.ES256, "sig_1")
	client := known.add(t, "cli_1", k)
	token := k.Sign(t, nil, ownClaims(client))
	keys, other := client.Keys, keyOf(jose.ES256, "sig_2")
	other.ID = "sig_1"
	head, rest, _ := strings.Cut(token, ".")
	_, signature, _ := strings.Cut(rest, ".")
	for name, tt := range testkit.ByName(map[string]struct {
		token  string
		change func(*snapshot.AppClient)
		after  time.Duration
	}{
		"its key is gone":     {token, func(c *snapshot.AppClient) { c.Keys = nil }, 0},
		"its key has expired": {token, func(c *snapshot.AppClient) { c.Keys[0].ExpiresAt = now }, 0},
		"its key is another": {token, func(c *snapshot.AppClient) {
			c.Keys[0] = appClients{}.add(t, "cli_1", other).Keys[0]
		}, 0},
		"it has expired":     {token, func(*snapshot.AppClient) {}, 10 * time.Minute},
		"of another tenant":  {token, func(c *snapshot.AppClient) { c.TenantID = "tnt_2" }, 0},
		"of another subject": {head + "." + segment(ownClaims(client, with("sub", "usr_2"))) + "." + signature, nil, 0},
	}) {
		t.Run(name, func(t *testing.T) {
			v := offline(t)
			client.Keys, client.TenantID = slices.Clone(keys), "tnt_cli_1"
			var got policy.Token
			for range 2 {
				denial := v.Verify(t.Context(), token, policy.Issuers{Own: known}, now, &got)
				wantDenial(t, "before", denial, accepted)
			}
			if tt.change != nil {
				tt.change(client)
			}
			denial := v.Verify(t.Context(), tt.token, policy.Issuers{Own: known}, now.Add(tt.after), &got)
			wantDenial(t, "afterward", denial, policy.InvalidToken)
		})
	}
}
