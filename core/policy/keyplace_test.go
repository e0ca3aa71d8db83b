package policy_test

import (
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit"
)

// placed is a line of testdata/key_places.jsonl, which the exported gateway's plugin is tested with, too.
type placed struct {
	Name    string              `json:"name"`
	In      []snapshot.KeyPlace `json:"in"`
	Headers [][2]string         `json:"headers"`
	Address string              `json:"query"`
	Tokens  bool                `json:"tokens"`

	Count         int    `json:"count"`
	Text          string `json:"text"`
	Authorization string `json:"authorization"`
	Sure          bool   `json:"sure"`
	Maybe         bool   `json:"maybe"`

	Upstream      [][2]string `json:"upstream"`
	UpstreamQuery string      `json:"upstream_query"`
	Own           bool        `json:"own"`
}

func (p placed) All(name string) (found []string) {
	for _, h := range p.Headers {
		if strings.EqualFold(h[0], name) {
			found = append(found, h[1])
		}
	}
	return found
}

func (p placed) First(name string) (string, int) {
	if found := p.All(name); len(found) > 0 {
		return found[0], len(found)
	}
	return "", 0
}

func (p placed) Query() string { return p.Address }

func TestKeyPlaces_table(t *testing.T) {
	for _, one := range testkit.Rows[placed](t, "testdata/key_places.jsonl", 50) {
		row := one.Of
		t.Run(row.Name, func(t *testing.T) {
			places := policy.CompileKeyPlaces(snapshot.APIKeyAuth{In: row.In})
			want := policy.PresentedKey{
				Count: row.Count, Text: row.Text, Authorization: row.Authorization, Sure: row.Sure, Maybe: row.Maybe,
			}
			if got := places.Read(row, row.Tokens); got != want {
				t.Errorf("found %+v, want %+v", got, want)
			}
			upstream := [][2]string{}
			for _, h := range row.Headers {
				if !places.Strips(h[0]) {
					upstream = append(upstream, h)
				} else if rest, kept := places.Strip(h[0], h[1]); kept {
					upstream = append(upstream, [2]string{h[0], rest})
				}
			}
			if !slices.Equal(upstream, row.Upstream) {
				t.Errorf("the upstream gets %q, want %q", upstream, row.Upstream)
			}
			if got := places.StripQuery(row.Address); got != row.UpstreamQuery {
				t.Errorf("the upstream gets the query %q, want %q", got, row.UpstreamQuery)
			}
			if got := places.OffersOwnProtocol(row); got != row.Own {
				t.Errorf("offers the gateway's protocol: %t, want %t", got, row.Own)
			}
		})
	}
}

func TestCompileKeyPlaces_default(t *testing.T) {
	for _, in := range [][]snapshot.KeyPlace{nil, {{Header: "x-api-KEY"}}} {
		if got := policy.CompileKeyPlaces(snapshot.APIKeyAuth{In: in}); got != nil {
			t.Errorf("%+v: %+v, want nil", in, got)
		}
	}
	var none *policy.KeyPlaces
	if got := none.Name(policy.CredentialsRequired); got != policy.CredentialsRequired {
		t.Errorf("named %+v", got)
	}
	if keys, either := none.Challenges(); keys != `Key realm="postern"` || either != `Key realm="postern", Bearer` {
		t.Errorf("challenges %q and %q", keys, either)
	}
}

func TestKeyPlaces_name(t *testing.T) {
	for _, tc := range []struct {
		in                []snapshot.KeyPlace
		required          string
		challenge, either string
	}{
		{
			[]snapshot.KeyPlace{{Header: "apikey"}}, "Send an API key in the apikey header.",
			`Key realm="postern"`, `Key realm="postern", Bearer`,
		},
		{
			[]snapshot.KeyPlace{{Header: "Authorization", Prefix: "Bearer"}},
			"Send an API key as Authorization: Bearer.",
			`Bearer realm="postern"`, `Bearer realm="postern"`,
		},
		{
			[]snapshot.KeyPlace{{Header: "Authorization", Prefix: "ApiKey"}},
			"Send an API key as Authorization: ApiKey.",
			`ApiKey realm="postern"`, `ApiKey realm="postern", Bearer`,
		},
		{
			[]snapshot.KeyPlace{{Header: "X-API-Key"}, {Query: "key"}, {Cookie: "session"}},
			"Send an API key in the X-API-Key header, in the key query parameter or in the session cookie.",
			`Key realm="postern"`, `Key realm="postern", Bearer`,
		},
		{
			[]snapshot.KeyPlace{{WebSocketProtocol: true}},
			"Send an API key as the WebSocket protocol postern.key.KEY, with KEY in base64url.",
			`Key realm="postern"`, `Key realm="postern", Bearer`,
		},
	} {
		places := policy.CompileKeyPlaces(snapshot.APIKeyAuth{In: tc.in})
		required, either, inAuthorization, noTokens := places.Named()
		for _, d := range []policy.Denial{required, either, inAuthorization, noTokens} {
			if d.Status != 401 || d.Code != "credentials_required" {
				t.Errorf("%+v", d)
			}
			if other := len(tc.in) > 1; strings.Contains(d.Message, "X-API-Key") != other {
				t.Errorf("%q names another place", d.Message)
			}
		}
		if required.Message != tc.required {
			t.Errorf("message %q, want %q", required.Message, tc.required)
		}
		if keys, both := places.Challenges(); keys != tc.challenge || both != tc.either {
			t.Errorf("challenges %q and %q, want %q and %q", keys, both, tc.challenge, tc.either)
		}
		if got := places.Challenge(policy.InvalidKey); got != tc.challenge {
			t.Errorf("challenge of an invalid key: %q", got)
		}
		if got := places.Challenge(policy.InvalidToken); got != policy.InvalidToken.Challenge() {
			t.Errorf("challenge of an invalid token: %q", got)
		}
		if got := places.Name(policy.InvalidKey); got != policy.InvalidKey {
			t.Errorf("named %+v", got)
		}
	}
}

func TestHasKey(t *testing.T) {
	for line, want := range map[string]bool{
		"k1": true, "Bearer k1": true, " ApiKey\tk1 ": true, "Bearer xk1": false, "k1 Bearer": false, "": false,
		"Bearer": false,
	} {
		if got := policy.HasKey(line, "k1"); got != want {
			t.Errorf("HasKey(%q) = %t", line, got)
		}
	}
	if policy.HasKey("", "") || policy.HasKey("Bearer ", "") {
		t.Error("a line has an empty key")
	}
}

func TestCanCarryKeys(t *testing.T) {
	for _, name := range []string{"apikey", "X-API-Key", "Authorization", "api_key", "Ocp-Apim-Subscription-Key"} {
		if !policy.CanCarryKeys(name) {
			t.Errorf("%s is refused", name)
		}
	}
	refused := []string{
		"", "Host", "Cookie", "Connection", "Keep-Alive", "Upgrade", "TE", "Trailer", "Transfer-Encoding",
		"Proxy-Authorization", "Content-Type", "Content_Length", "Content-Anything", "X-Consumer-ID", "x_consumer_id",
		"X-Credential-Identifier", "X-Authenticated-Userid", "X-Tenant-ID", "Forwarded", "X-Forwarded-For", "Via",
		"X-Real-IP", "Origin", "Access-Control-Request-Headers", "Signature", "Signature-Input", "Traceparent",
		"X-Kong-Request-Id", "Sec-WebSocket-Protocol", "Accept", "Accept-Encoding", "User-Agent", "a b", "X:Y",
		"Schlüssel",
		strings.Repeat("a", 65),
	}
	refused = append(refused, policy.IdentityHeaders()...)
	for _, name := range append(refused, policy.ForwardedHeaders()...) {
		if policy.CanCarryKeys(name) {
			t.Errorf("%q is accepted", name)
		}
	}
}

// A sample is read as the key that it carries.
func TestKeyPlace_sample(t *testing.T) {
	const key = "a+b/c=d&e f"
	for _, in := range []snapshot.KeyPlace{
		{Header: "apikey"}, {Header: "X-Key", Prefix: "Token"}, {Header: "X-Key", Prefix: "key="},
		{Header: "X-Key", Prefix: "Token", PrefixOptional: true}, {Query: "api_key"}, {Cookie: "session"},
		{WebSocketProtocol: true},
	} {
		sample := snapshot.APIKeyAuth{In: []snapshot.KeyPlace{in}}.Sample(key)
		call := placed{}
		if sample.Query != "" {
			call.Address = "?" + sample.Query
		} else {
			name, value, _ := strings.Cut(sample.Header, ": ")
			call.Headers = [][2]string{{name, value}}
		}
		found := policy.CompileKeyPlaces(snapshot.APIKeyAuth{In: []snapshot.KeyPlace{in}}).Read(call, false)
		if found.Count != 1 || found.Text != key {
			t.Errorf("%s: %+v is read as %+v", in, sample, found)
		}
	}
}
