package gateway_test

import (
	"bufio"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
)

// placeCase is a call to a version whose keys travel in these places. KEY stands for a valid key, KEY64 for its
// base64url, UNKNOWN for a well-formed one that isn't valid, and IMPORTED for a valid one that was made elsewhere.
type placeCase struct {
	in     []snapshot.KeyPlace
	mode   []rigOption // authenticate with keys alone, if there is none
	query  string
	lines  []string
	status int
	code   string
	body   string
	says   string   // WWW-Authenticate
	got    []string // "Header: value", without a value: absent
	uri    string   // of the upstream's request; "": not checked
}

var (
	inHeader        = []snapshot.KeyPlace{{Header: "apikey"}}
	inAuthorization = []snapshot.KeyPlace{{Header: "Authorization", Prefix: "Bearer"}}
	inEitherForm    = []snapshot.KeyPlace{{Header: "Authorization", Prefix: "Bearer", PrefixOptional: true}}
	inQuery         = []snapshot.KeyPlace{{Query: "api_key"}}
	inCookie        = []snapshot.KeyPlace{{Cookie: "session"}}
	inProtocol      = []snapshot.KeyPlace{{WebSocketProtocol: true}}
	inSeveral       = []snapshot.KeyPlace{
		{Header: "apikey"}, {Query: "api_key"}, {Header: "Authorization", Prefix: "Bearer"},
	}
)

var placeCases = map[string]placeCase{
	"header": {
		in: inHeader, lines: []string{"apikey: KEY", "X-API-Key: of-the-upstream"}, status: 200,
		got: []string{billingConsumer, "Apikey:", "X-Api-Key: of-the-upstream"},
	},
	"header, another spelling": {
		in: inHeader, lines: []string{"apikey: KEY", "Api-Key: x"}, status: 200, got: []string{"Apikey:", "Api-Key: x"},
	},
	"header, none": {
		in: inHeader, lines: []string{"X-API-Key: KEY"}, status: 401, code: "credentials_required",
		body: `{"message":"Send an API key in the apikey header.","code":"credentials_required"}`,
		says: `Key realm="postern"`,
	},
	"header, repeated": {in: inHeader, lines: []string{"apikey: KEY", "apikey: KEY"}, status: 401, code: "invalid_key"},
	"header, unknown": {
		in: inHeader, lines: []string{"apikey: UNKNOWN"}, status: 401, code: "invalid_key", says: `Key realm="postern"`,
	},
	"header, misplaced": {
		in: inHeader, lines: []string{"Authorization: Bearer KEY"}, status: 401, code: "credentials_required",
		body: `{"message":"Authorization contains an API key. Send it in the apikey header.",` +
			`"code":"credentials_required"}`,
	},
	"header, a foreign Authorization": {
		in: inHeader, lines: []string{"apikey: KEY", "Authorization: Bearer a.b.c"}, status: 200,
		got: []string{billingConsumer, "Authorization: Bearer a.b.c"},
	},
	"header, the same key in Authorization": {
		in: inHeader, lines: []string{"apikey: KEY", "Authorization: Bearer KEY"}, status: 200,
		got: []string{billingConsumer, "Authorization:", "Apikey:"},
	},
	"default, the same key in Authorization": {
		lines: []string{"X-API-Key: KEY", "Authorization: KEY"}, status: 200,
		got: []string{billingConsumer, "Authorization:", "X-Api-Key:"},
	},
	"header, the same key in X-API-Key": {
		in: inHeader, lines: []string{"apikey: KEY", "X-API-Key: KEY"}, status: 200,
		got: []string{billingConsumer, "Apikey:", "X-Api-Key:"},
	},
	"header, the same key in the second X-API-Key": {
		in: inHeader, lines: []string{"apikey: KEY", "X-API-Key: x", "x-api-key: KEY"}, status: 200,
		got: []string{billingConsumer, "X-Api-Key:"},
	},
	"header, the same key in X_API_Key": {
		in: inHeader, lines: []string{"apikey: KEY", "X_API_Key: KEY"}, status: 200,
		got: []string{billingConsumer, "Apikey:", "X_api_key:"},
	},
	"query, the same key in X-API-Key": {
		in: inQuery, query: "?api_key=KEY", lines: []string{"X-API-Key: KEY"}, status: 200,
		got: []string{billingConsumer, "X-Api-Key:"},
	},
	"header, tokens too, the same key in X-API-Key": {
		in: inHeader, mode: []rigOption{either}, status: 200,
		lines: []string{"apikey: KEY", "X-API-Key: KEY", "Authorization: Bearer good"},
		got:   []string{billingConsumer, "X-Api-Key:", "Authorization: Bearer good"},
	},
	"header, tokens too": {
		in: inHeader, mode: []rigOption{either}, lines: []string{"apikey: KEY", "Authorization: Bearer good"},
		status: 200, got: []string{billingConsumer, "X-Authenticated-Userid: alice", "Authorization: Bearer good"},
	},
	"header, tokens too, none": {
		in: inHeader, mode: []rigOption{either}, status: 401, code: "credentials_required",
		body: `{"message":"Send an API key in the apikey header, or a token as Authorization: Bearer.",` +
			`"code":"credentials_required"}`,
		says: `Key realm="postern", Bearer`,
	},
	"header, tokens too, a key in place of the token": {
		in: inHeader, mode: []rigOption{either}, lines: []string{"Authorization: Bearer " + shapedKey}, status: 401,
		code: "credentials_required",
		body: `{"message":"Authorization contains an API key. Send it in the apikey header.",` +
			`"code":"credentials_required"}`,
	},
	"header, ignored": {
		in: inHeader, mode: []rigOption{withMode(snapshot.Passthrough)}, lines: []string{"apikey: KEY"}, status: 200,
		got: []string{"X-Consumer-Id:", "Apikey: KEY"},
	},
	"header, optional": {
		in: inHeader, mode: []rigOption{withMode(snapshot.Passthrough, snapshot.APIKey)}, status: 200,
		lines: []string{"X-Api-Key: x"}, got: []string{"X-Consumer-Id:", "X-Api-Key: x"},
	},
	"Authorization": {
		in: inAuthorization, lines: []string{"Authorization: bEARER  KEY"}, status: 200,
		got: []string{billingConsumer, "Authorization:"},
	},
	"Authorization, of any form": {
		in: inAuthorization, lines: []string{"Authorization: Bearer UNKNOWN"}, status: 401, code: "invalid_key",
		says: `Bearer realm="postern"`,
	},
	"Authorization, no prefix": {
		in: inAuthorization, lines: []string{"Authorization: KEY"}, status: 401, code: "credentials_required",
		body: `{"message":"Authorization contains an API key. Send it as Authorization: Bearer.",` +
			`"code":"credentials_required"}`,
		says: `Bearer realm="postern"`,
	},
	"Authorization, a token": {
		in: inAuthorization, lines: []string{"Authorization: Bearer a.b.c"}, status: 401, code: "invalid_key",
	},
	"Authorization, another scheme": {
		in: inAuthorization, lines: []string{"Authorization: Basic x"}, status: 401, code: "credentials_required",
	},
	"Authorization, twice": {
		in: inAuthorization, lines: []string{"Authorization: Bearer KEY", "Authorization: Bearer KEY"}, status: 401,
		code: "invalid_key",
	},
	"Authorization, foreign and optional": {
		in: inAuthorization, mode: []rigOption{withMode(snapshot.Passthrough, snapshot.APIKey)}, status: 200,
		lines: []string{"Authorization: Basic x"}, got: []string{"X-Consumer-Id:", "Authorization: Basic x"},
	},
	"Authorization, either form with":    {in: inEitherForm, lines: []string{"Authorization: Bearer KEY"}, status: 200},
	"Authorization, either form without": {in: inEitherForm, lines: []string{"Authorization: KEY"}, status: 200},
	"Authorization, a key where tokens are taken": {
		in: inAuthorization, mode: []rigOption{either}, lines: []string{"Authorization: Bearer KEY"}, status: 200,
		got: []string{billingConsumer, "Authorization:", "X-Authenticated-Userid:"},
	},
	"Authorization, a token where keys are taken": {
		in: inAuthorization, mode: []rigOption{either}, lines: []string{"Authorization: Bearer good"}, status: 200,
		got: []string{"X-Consumer-Id:", "Authorization: Bearer good", "X-Authenticated-Userid: alice"},
	},
	"Authorization, neither": {
		in: inAuthorization, mode: []rigOption{either}, lines: []string{"Authorization: Bearer bad"}, status: 401,
		code: "invalid_token", says: `Bearer error="invalid_token"`,
	},
	"Authorization, an unknown key where tokens are taken": {
		in: inAuthorization, mode: []rigOption{either}, lines: []string{"Authorization: Bearer UNKNOWN"}, status: 401,
		code: "invalid_key", says: `Bearer realm="postern"`,
	},
	"query": {
		in: inQuery, query: "?a=%2f+b&api_key=KEY&c&d=%zz", status: 200, got: []string{billingConsumer},
		uri: "/base/x?a=%2f+b&c&d=%zz",
	},
	"query, alone":    {in: inQuery, query: "?api%5Fkey=KEY", status: 200, uri: "/base/x"},
	"query, repeated": {in: inQuery, query: "?api_key=KEY&api_key=KEY", status: 401, code: "invalid_key"},
	"query, none": {
		in: inQuery, query: "?apikey=KEY", lines: []string{"X-API-Key: KEY"}, status: 401, code: "credentials_required",
		body: `{"message":"Send an API key in the api_key query parameter.","code":"credentials_required"}`,
	},
	"query, transformed": {
		in: inQuery, query: "?api_key=KEY&b=1", status: 200, uri: "/base/x?added=2&b=1",
		mode: []rigOption{withProject(func(p *snapshot.Project) {
			p.Versions[0].Transforms.Query = snapshot.Changes{
				Rename: []string{"api_key:stolen"}, Add: []string{"added:2"},
			}
		})},
	},
	"header, transformed": {
		in: inHeader, lines: []string{"apikey: KEY"}, status: 200, got: []string{"Apikey:", "X-Stolen:"},
		mode: []rigOption{withProject(func(p *snapshot.Project) {
			p.Versions[0].Transforms.Request = snapshot.Changes{Rename: []string{"apikey:X-Stolen"}}
		})},
	},
	"cookie": {
		in: inCookie, lines: []string{"Cookie: a=1; session=KEY; b=2"}, status: 200,
		got: []string{billingConsumer, "Cookie: a=1; b=2"},
	},
	"cookie, alone": {in: inCookie, lines: []string{"Cookie: session=KEY"}, status: 200, got: []string{"Cookie:"}},
	"cookie, repeated": {
		in: inCookie, lines: []string{"Cookie: session=KEY; session=KEY"}, status: 401, code: "invalid_key",
	},
	"cookie, none": {
		in: inCookie, lines: []string{"Cookie: a=1"}, status: 401, code: "credentials_required",
		body: `{"message":"Send an API key in the session cookie.","code":"credentials_required"}`,
	},
	"protocol": {
		in: inProtocol, lines: []string{"Sec-WebSocket-Protocol: postern.key.KEY64, chat"}, status: 200,
		got: []string{billingConsumer, "Sec-Websocket-Protocol: chat"},
	},
	"protocol, none": {
		in: inProtocol, lines: []string{"Sec-WebSocket-Protocol: chat"}, status: 401, code: "credentials_required",
	},
	"protocol, broken": {
		in: inProtocol, lines: []string{"Sec-WebSocket-Protocol: postern.key.KEY"}, status: 401, code: "invalid_key",
	},
	"two places": {
		in: inSeveral, query: "?api_key=KEY", lines: []string{"apikey: KEY"}, status: 401, code: "invalid_key",
	},
	"two places, Authorization": {
		in: inSeveral, lines: []string{"apikey: KEY", "Authorization: Bearer KEY"}, status: 401, code: "invalid_key",
	},
	"several places, a foreign Authorization": {
		in: inSeveral, lines: []string{"apikey: KEY", "Authorization: Bearer a.b.c"}, status: 200,
		got: []string{billingConsumer, "Authorization: Bearer a.b.c"},
	},
	"several places, Authorization": {
		in: inSeveral, lines: []string{"Authorization: Bearer KEY"}, status: 200, got: []string{"Authorization:"},
	},
}

func (tc placeCase) options() []rigOption {
	return append(append([]rigOption{}, tc.mode...), inPlaces(tc.in))
}

func inPlaces(in []snapshot.KeyPlace) rigOption {
	return withProject(func(p *snapshot.Project) { p.Versions[0].Access.APIKey.In = in })
}

func (tc placeCase) check(t *testing.T, r *rig, got reply, fill *strings.Replacer) {
	t.Helper()
	if got.StatusCode != tc.status || got.code() != tc.code || tc.body != "" && got.body != tc.body {
		t.Errorf("%d %s, want %d %s %s", got.StatusCode, got.body, tc.status, tc.code, tc.body)
	}
	if says := got.Header.Get("WWW-Authenticate"); tc.says != "" && says != tc.says {
		t.Errorf("WWW-Authenticate is %q, want %q", says, tc.says)
	}
	if logged := r.log.String(); strings.Contains(logged, r.key) {
		t.Errorf("the log has the key: %s", logged)
	}
	calls := r.upstreamCalls()
	if tc.status != 200 {
		if len(calls) != 0 {
			t.Errorf("refused, but the upstream got %d calls", len(calls))
		}
		return
	}
	if len(calls) != 1 {
		t.Fatalf("the upstream got %d calls", len(calls))
	}
	if tc.uri != "" && calls[0].uri != tc.uri {
		t.Errorf("the upstream got %s, want %s", calls[0].uri, tc.uri)
	}
	for _, line := range tc.got {
		field, want, _ := strings.Cut(fill.Replace(line), ":")
		if has := strings.Join(calls[0].header[field], ","); has != strings.TrimSpace(want) {
			t.Errorf("the upstream got %s %q, want %q", field, has, strings.TrimSpace(want))
		}
	}
}

func (r *rig) fill(t *testing.T) *strings.Replacer {
	return strings.NewReplacer("KEY64", base64.RawURLEncoding.EncodeToString([]byte(r.key)), "KEY", r.key,
		"UNKNOWN", mintUnknown(t))
}

func TestKeyPlaces_calls(t *testing.T) {
	for name, tc := range placeCases {
		for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			t.Run(name+", "+path, func(t *testing.T) {
				r := newRig(t, nil, append(tc.options(), more...)...)
				fill := r.fill(t)
				lines := []string{noKey}
				for _, line := range tc.lines {
					lines = append(lines, fill.Replace(line))
				}
				tc.check(t, r, r.get("/shop/1.0.0/prod/x"+fill.Replace(tc.query), lines...), fill)
			})
		}
	}
}

func TestKeyPlaces_http2(t *testing.T) {
	pair := newPair(t)
	for name, tc := range placeCases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, append(tc.options(), overTLS(pair))...)
			fill := r.fill(t)
			lines := []string{noKey}
			for _, line := range tc.lines {
				lines = append(lines, fill.Replace(line))
			}
			got := r.over(r.http2(), http.MethodGet, "/1.0.0/prod/x"+fill.Replace(tc.query), http.NoBody, lines...)
			if got.ProtoMajor != 2 {
				t.Fatal(got.Proto)
			}
			tc.check(t, r, got, fill)
		})
	}
}

// A browser ends a connection for which the server selects none of the protocols that it offered.
func TestKeyPlaces_webSocket(t *testing.T) {
	for name, tc := range map[string]struct{ offered, upstreams, selects, selected string }{
		"the gateway's":                  {offered: "postern, postern.key.KEY64", selected: "postern"},
		"another, and the upstream none": {offered: "chat, postern.key.KEY64", upstreams: "chat"},
		"both, and the upstream none": {
			offered: "chat, postern, postern.key.KEY64", upstreams: "chat", selected: "postern",
		},
		"both, and the upstream's": {
			offered: "postern, chat, postern.key.KEY64", upstreams: "chat", selects: "chat", selected: "chat",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			upstream := func(w http.ResponseWriter, r *http.Request) {
				got <- r.Header.Get("Sec-WebSocket-Protocol")
				w.Header().Set("Connection", "Upgrade")
				w.Header().Set("Upgrade", "websocket")
				if tc.selects != "" {
					w.Header().Set("Sec-WebSocket-Protocol", tc.selects)
				}
				w.WriteHeader(http.StatusSwitchingProtocols)
			}
			r := newRig(t, upstream, inPlaces(inProtocol))
			conn := r.dial()
			defer func() { _ = conn.Close() }()
			lines := append([]string{r.fill(t).Replace("Sec-WebSocket-Protocol: " + tc.offered)}, handshake...)
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod/ws", r.addr, lines...))
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusSwitchingProtocols {
				t.Fatalf("status %d", answer.StatusCode)
			}
			if offered := within(t, "the handshake", got); offered != tc.upstreams {
				t.Errorf("the upstream is offered %q, want %q", offered, tc.upstreams)
			}
			if selected := answer.Header.Get("Sec-WebSocket-Protocol"); selected != tc.selected {
				t.Errorf("selected %q, want %q", selected, tc.selected)
			}
		})
	}
}

// A tunnel ends with its key, wherever the key came from.
func TestKeyPlaces_endOfTunnel(t *testing.T) {
	heads := make(chan string, 1)
	r := newRig(t, nil, withTarget(switching(t, heads, echo)),
		inPlaces(inProtocol))
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	lines := append([]string{r.fill(t).Replace("Sec-WebSocket-Protocol: postern, postern.key.KEY64")}, handshake...)
	_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod/ws", r.addr, lines...))
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if head := within(t, "the handshake", heads); strings.Contains(strings.ToLower(head), "sec-websocket-protocol") {
		t.Errorf("the upstream got %s", head)
	}
	r.keys.put(r.key, snapshot.Key{
		ID: "key_1", ProjectID: "prj_shop", Owner: "billing", TenantID: "tnt_1", State: snapshot.KeyRevoked,
	})
	if _, err := from.ReadByte(); err != io.EOF {
		t.Errorf("after the revocation: %v, want the end", err)
	}
}

// An explanation says where keys travel, whether the call is let through or refused.
func TestExplain_keyPlace(t *testing.T) {
	for _, tc := range []struct {
		name  string
		in    []snapshot.KeyPlace
		place string
	}{
		{"default", nil, "in the X-API-Key header"},
		{"header", inHeader, "in the apikey header"},
		{"prefix", inAuthorization, "as Authorization: Bearer"},
		{"query", inQuery, "in the api_key query parameter"},
		{"cookie", inCookie, "in the session cookie"},
		{"protocol", inProtocol, "as the WebSocket protocol postern.key.KEY, with KEY in base64url"},
		{"several", inSeveral, "in the apikey header, in the api_key query parameter or as Authorization: Bearer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, nil, inPlaces(tc.in))
			question := policy.Question{
				ProjectID: "prj_shop", Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/x",
			}
			known, unknown := policy.HashKey(r.key), [32]byte{1}
			for of, hash := range map[string]*[32]byte{"a key": &known, "no key": nil, "an unknown key": &unknown} {
				question.KeyHash = hash
				found := 0
				for _, step := range r.gateway.Explain(question).Steps {
					found += strings.Count(step.Detail, tc.place)
				}
				if found != 1 {
					t.Errorf("%s: the place is named %d times", of, found)
				}
			}
		})
	}
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	for _, step := range r.gateway.Explain(policy.Question{
		ProjectID: "prj_shop", Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/x",
	}).Steps {
		if strings.Contains(step.Detail, "X-API-Key") {
			t.Errorf("a version that doesn't take keys has a place for them: %+v", step)
		}
	}
}

func TestExplain_keyPlaces(t *testing.T) {
	r := newRig(t, nil, inPlaces(inAuthorization))
	question := policy.Question{
		ProjectID: "prj_shop", Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/x",
	}
	const message = "Send an API key as Authorization: Bearer."
	if got := r.gateway.Explain(question); got.Denial.Message != message || got.Denial.Code != "credentials_required" {
		t.Errorf("without a key: %+v", got.Denial)
	}
	hash := policy.HashKey(r.key)
	question.KeyHash = &hash
	if got := r.gateway.Explain(question); got.Denial != (policy.Denial{}) {
		t.Errorf("with the key: %+v", got.Denial)
	}
	question.KeyHash, question.User = nil, &policy.TokenUser{ID: "usr_1", TenantID: "tnt_1"}
	if got := r.gateway.Explain(question); got.Denial != policy.InvalidKey {
		t.Errorf("with a token, which is read as a key: %+v", got.Denial)
	}
}
