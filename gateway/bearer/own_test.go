package bearer_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/bearer"
)

const postern = "https://postern.example"

// house has app clients, as a gateway knows them.
type house map[string]*snapshot.AppClient

func (h house) Client(issuer string) *snapshot.AppClient { return h[issuer] }

func (h house) add(t testing.TB, id string, keys ...key) *snapshot.AppClient {
	t.Helper()
	client := &snapshot.AppClient{ID: id, Issuer: snapshot.IssuerOf(postern, id), TenantID: "tnt_" + id}
	for _, k := range keys {
		text, err := k.public().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		client.Keys = append(client.Keys, snapshot.SigningKey{
			ID:        k.kid,
			Algorithm: string(k.algorithm),
			JWK:       string(text),
		})
	}
	h[client.Issuer] = client
	return client
}

// says is what a good access token of a client says, with edits.
func says(client *snapshot.AppClient, edits ...func(map[string]any)) map[string]any {
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

// offline makes a verifier that fails the test when it asks anybody.
func offline(t testing.TB) *bearer.Verifier {
	t.Helper()
	v := bearer.New(&http.Client{Transport: noRoundTrips{t}}, slog.New(slog.DiscardHandler))
	t.Cleanup(v.Close)
	return v
}

type noRoundTrips struct{ t testing.TB }

func (n noRoundTrips) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("%s is asked for a key that is known", r.URL)
	return nil, http.ErrUseLastResponse
}

func TestTokensOfOurOwn(t *testing.T) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA} {
		t.Run(string(algorithm), func(t *testing.T) {
			known, k, next := house{}, keyOf(algorithm, "sig_1"), keyOf(algorithm, "sig_2")
			client := known.add(t, "cli_1", k, next)
			v := offline(t)
			want := policy.Token{
				Issuer:  client.Issuer,
				Subject: "usr_1",
				Scopes:  []string{"openid", "email"},
				Expires: now.Add(10 * time.Minute),
				Hosted: policy.Hosted{Client: "cli_1", ID: "jti_1",
					Provider: "idp_1", Groups: []string{"staff", "admins"}, Carries: snapshot.ServiceToken},
			}
			for name, token := range map[string]string{
				"the key that signs": k.sign(t, nil, says(client)),
				"the one after it":   next.sign(t, nil, says(client)),
				"typ in full":        k.sign(t, map[jose.HeaderKey]any{"typ": "application/at+jwt"}, says(client)),
			} {
				var got policy.Token
				if denial := v.Verify(token, policy.Issuers{Own: known}, now, &got); denial != accepted {
					t.Errorf("%s: %v", name, denial)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			var got policy.Token
			carrying := says(client, with("upstream", "provider_access_token"), with("upstream_token", "c2VhbGVk"))
			if denial := v.Verify(k.sign(t, nil, carrying), policy.Issuers{Own: known}, now, &got); denial != accepted ||
				got.Sealed != "c2VhbGVk" ||
				got.Carries != snapshot.ProviderAccessToken {
				t.Errorf("with a token for the upstream: %v, %+v", denial, got.Hosted)
			}
		})
	}
}

// A name in the list of groups must not read as two names, nor as another header.
func TestGroupsThatNoListCanCarryAreLeftOut(t *testing.T) {
	known, k := house{}, keyOf(jose.ES256, "sig_1")
	client := known.add(t, "cli_1", k)
	var got policy.Token
	token := k.sign(
		t, nil,
		says(client, with("groups", []string{"staff", "a,admins", "x\r\nX-Tenant-Id: y", "", " admins", "añb", "ops"})),
	)
	if denial := offline(t).Verify(token, policy.Issuers{Own: known}, now, &got); denial != accepted {
		t.Fatal(denial)
	}
	if diff := cmp.Diff([]string{"staff", "ops"}, got.Groups); diff != "" {
		t.Error(diff)
	}
}

// Every one of these has to be answered 401 invalid_token, also where the version
// names the issuer in a pair of its own.
func TestForgedTokensOfOurOwn(t *testing.T) {
	known := house{}
	rs, es, stranger := keyOf(jose.RS256, "sig_1"), keyOf(jose.ES256, "sig_2"), keyOf(jose.RS256, "stranger")
	theirs, ended := keyOf(jose.RS256, "sig_3"), keyOf(jose.RS256, "sig_4")
	client, other := known.add(t, "cli_1", rs, es, ended), known.add(t, "cli_2", theirs)
	client.Keys[2].ExpiresAt = now
	public, err := rs.public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	secret := known.add(t, "cli_3", keyOf(jose.RS256, "sig_5"))
	private, err := json.Marshal(jose.JSONWebKey{Key: rs.private, KeyID: "sig_5", Algorithm: "RS256"})
	if err != nil {
		t.Fatal(err)
	}
	secret.Keys[0].JWK = string(private)
	good := rs.sign(t, nil, says(client))
	parts := strings.Split(good, ".")
	claim := func(name string, value any) string { return rs.sign(t, nil, says(client, with(name, value))) }
	typ := func(value any) string { return rs.sign(t, map[jose.HeaderKey]any{"typ": value}, says(client)) }
	symmetric := func(key []byte) string {
		text := segment(map[string]string{"alg": "HS256", "typ": "at+jwt", "kid": "sig_1"}) + "." + parts[1]
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	v := offline(t)
	for name, token := range map[string]string{
		"an ID token":           rs.sign(t, map[jose.HeaderKey]any{"typ": "JWT"}, says(client)),
		"no typ":                typ(nil),
		"typ of a logout token": typ("logout+jwt"),
		"alg none": segment(map[string]string{
			"alg": "none",
			"typ": "at+jwt",
			"kid": "sig_1",
		}) + "." + parts[1] + ".",
		"alg none with a signature": segment(map[string]string{
			"alg": "none",
			"typ": "at+jwt",
			"kid": "sig_1",
		}) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key, JWK": symmetric(public),
		"HS256 with the public key, PEM": symmetric(publicPEM(t, rs)),
		"another payload":                parts[0] + "." + segment(says(client, with("sub", "usr_2"))) + "." + parts[2],
		"another head": segment(map[string]string{
			"alg": "RS256",
			"typ": "at+jwt",
			"kid": "sig_1",
			"x":   "y",
		}) + "." + parts[1] + "." + parts[2],
		"half a signature":               parts[0] + "." + parts[1] + "." + parts[2][:40],
		"expired this second":            claim("exp", now.Unix()),
		"expired within the leeway":      claim("exp", now.Add(-30*time.Second).Unix()),
		"no exp":                         claim("exp", nil),
		"issued in the future":           claim("iat", now.Add(time.Hour).Unix()),
		"a key of nobody, known kid":     key{"sig_1", jose.RS256, stranger.private}.sign(t, nil, says(client)),
		"kid of another client":          key{"sig_3", jose.RS256, rs.private}.sign(t, nil, says(client)),
		"key of another client":          theirs.sign(t, nil, says(client)),
		"key of another client, our kid": key{"sig_1", jose.RS256, theirs.private}.sign(t, nil, says(client)),
		"no kid":                         rs.sign(t, map[jose.HeaderKey]any{"kid": nil}, says(client)),
		"a kid that is not known":        stranger.sign(t, nil, says(client)),
		"a key that has ended":           ended.sign(t, nil, says(client)),
		"RS256 under the kid of ES256":   key{"sig_2", jose.RS256, rs.private}.sign(t, nil, says(client)),
		"PS256 with a key for RS256":     key{"sig_1", jose.PS256, rs.private}.sign(t, nil, says(client)),
		"a key that is no public one":    key{"sig_5", jose.RS256, rs.private}.sign(t, nil, says(secret)),
		"the audience of another client": claim("aud", other.ID),
		"no audience":                    claim("aud", nil),
		"the id of another client":       claim("client_id", other.ID),
		"no client id":                   claim("client_id", nil),
		"the tenant of another client":   claim("tenant", other.TenantID),
		"the issuer of another client":   claim("iss", other.Issuer),
		"the issuer with a slash":        claim("iss", client.Issuer+"/"),
		"no sub":                         claim("sub", nil),
		"a sub with a line break":        claim("sub", "usr_1\r\nX-Tenant-Id: tnt_2"),
		"groups that are no list":        claim("groups", "admins"),
		"a scope with a control":         claim("scope", "openid\x01"),
	} {
		for where, named := range map[string][]snapshot.TokenIssuer{
			"no pairs": nil,
			"named in a pair": {{
				Issuer:   client.Issuer,
				Audience: client.ID,
			}, {Issuer: other.Issuer, Audience: other.ID}},
			"an issuer beside": {{Issuer: "https://accounts.example", Audience: client.ID}},
		} {
			var got policy.Token
			if denial := v.Verify(token, policy.Issuers{
				Named: named,
				Own:   known,
			}, now, &got); denial != policy.InvalidToken {
				t.Errorf("%s, %s: %v, %+v", name, where, denial, got)
			}
		}
	}
	var got policy.Token
	if denial := v.Verify(good, policy.Issuers{Own: known}, now, &got); denial != accepted {
		t.Errorf("the token that all others are made of: %v", denial)
	}
}
