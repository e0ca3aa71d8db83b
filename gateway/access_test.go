package gateway_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

func identityOf(h http.Header) map[string]string {
	out := map[string]string{}
	for name, lines := range h {
		if policy.IsIdentityHeader(name) {
			out[name] = strings.Join(lines, " | ")
		}
	}
	return out
}

func TestKey_accepted(t *testing.T) {
	r := newRig(t, nil)
	got := r.get("/shop/1.0.0/prod/orders", "Authorization: Bearer of-the-upstream")
	if got.StatusCode != 200 || got.body != "up" {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	h := r.lastCall().header
	want := fmt.Sprint(map[string]string{
		"X-Consumer-Id":           policy.ConsumerID("prj_shop", "billing"),
		"X-Consumer-Username":     "billing",
		"X-Consumer-Custom-Id":    "billing",
		"X-Credential-Identifier": "key_1",
		"X-Authenticated-Scope":   "read write",
		"X-Tenant-Id":             "tnt_1",
		"X-Project-Id":            "prj_shop",
	})
	if identity := fmt.Sprint(identityOf(h)); identity != want {
		t.Errorf("identity headers %s, want %s", identity, want)
	}
	if h["X-Api-Key"] != nil {
		t.Error("the key reached the upstream")
	}
	if h.Get("Authorization") != "Bearer of-the-upstream" {
		t.Errorf("Authorization = %q, want it untouched", h.Get("Authorization"))
	}
}

func TestKey_refused(t *testing.T) {
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	r := newRig(t, nil)
	good := r.key
	hash := policy.HashKey(good)
	old := r.mint("prod", snapshot.Key{ID: "key_old"})
	r.keys.mu.Lock()
	clear(r.keys.byNew)
	r.keys.mu.Unlock()
	active := snapshot.Key{
		ID:        "key_1",
		ProjectID: "prj_shop",
		Owner:     "billing",
		TenantID:  "tnt_1",
		State:     snapshot.KeyActive,
	}
	r.keys.put(good, active)
	active.GraceEndsAt = past
	r.keys.putOld(old, active)

	for _, tc := range []struct {
		name   string
		lines  []string
		status int
		code   string
	}{
		{"no key", []string{noKey}, 401, "credentials_required"},
		{"empty key", []string{"X-API-Key:"}, 401, "invalid_key"},
		{"malformed key", []string{"X-API-Key: secret"}, 401, "invalid_key"},
		{"unknown key", []string{"X-API-Key: " + mintUnknown(t)}, 401, "invalid_key"},
		{"the hash of a good key", []string{"X-API-Key: " + hex.EncodeToString(hash[:])}, 401, "invalid_key"},
		{"the good key twice", []string{"X-API-Key: " + good, "X-API-Key: " + good}, 401, "invalid_key"},
		{"the good key and an empty one", []string{"X-API-Key: " + good, "x-api-key:"}, 401, "invalid_key"},
		{"two keys in one line", []string{"X-API-Key: " + good + ", " + good}, 401, "invalid_key"},
		{"in Authorization", []string{noKey, "Authorization: Bearer " + good}, 401, "credentials_required"},
		{"under another spelling", []string{noKey, "X_API_Key: " + good}, 401, "credentials_required"},
		{
			"a key of another project",
			[]string{"X-API-Key: " + r.mint("prod", snapshot.Key{ProjectID: "prj_other"})}, 401, "invalid_key",
		},
		{
			"a key of another environment",
			[]string{"X-API-Key: " + r.mint("dev", snapshot.Key{Environment: "dev"})}, 401, "invalid_key",
		},
		{
			"revoked",
			[]string{"X-API-Key: " + r.mint("prod", snapshot.Key{State: snapshot.KeyRevoked})}, 401, "invalid_key",
		},
		{"expired", []string{"X-API-Key: " + r.mint("prod", snapshot.Key{ExpiresAt: past})}, 401, "invalid_key"},
		{
			"frozen",
			[]string{"X-API-Key: " + r.mint("prod", snapshot.Key{State: snapshot.KeyFrozen})}, 403, "key_frozen",
		},
		{"the old secret after its grace", []string{"X-API-Key: " + old}, 401, "invalid_key"},
	} {
		got := r.get("/shop/1.0.0/prod", tc.lines...)
		r.wantCode(tc.name, got, tc.status, tc.code)
		if got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: Content-Type %q", tc.name, got.Header.Get("Content-Type"))
		}
		if challenge := got.Header.Get("WWW-Authenticate"); (challenge == `Key realm="postern"`) != (tc.status == 401) {
			t.Errorf("%s: WWW-Authenticate %q with %d", tc.name, challenge, tc.status)
		}
	}
	for line, denial := range map[string]policy.Denial{
		"Bearer " + good: policy.KeyInAuthorization, good: policy.KeyInAuthorization,
		"Bearer a.b.c": policy.TokensNotAccepted, "Basic YTpi": policy.CredentialsRequired,
	} {
		got := r.get("/shop/1.0.0/prod", noKey, "Authorization: "+line)
		if got.StatusCode != 401 || got.body != string(denial.Body()) {
			t.Errorf("Authorization: %s: %d %s", line, got.StatusCode, got.body)
		}
	}
	r.wantCode("in the query", r.get("/shop/1.0.0/prod?x-api-key="+good, noKey), 401, "credentials_required")
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
	for name, key := range map[string]string{
		"every environment":            r.mint("", snapshot.Key{}),
		"expires later":                r.mint("prod", snapshot.Key{ExpiresAt: future}),
		"another installation's shape": r.mint("prod", snapshot.Key{}),
	} {
		if got := r.get("/shop/1.0.0/prod", "X-API-Key: "+key); got.StatusCode != 200 {
			t.Errorf("%s: %d %s, want 200", name, got.StatusCode, got.body)
		}
	}
}

func mintUnknown(t *testing.T) string {
	t.Helper()
	key, err := policy.NewKey("pst", "prod")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A text that doesn't look like a key, or a check that does not fit, costs no lookup: on a
// connection that has shown a good key as little as on a new one.
func TestKey_lookup(t *testing.T) {
	for path, line := range map[string]string{"the engine": "Accept: */*", "net/http": "TE: trailers"} {
		r := newRig(t, nil)
		other := r.mint("prod", snapshot.Key{ID: "key_2", Owner: "shipping"})
		conn := r.dial()
		defer conn.Close()
		from := bufio.NewReader(conn)
		flipped := []byte(r.key)
		if flipped[len(flipped)-1]++; flipped[len(flipped)-1] == 'z'+1 {
			flipped[len(flipped)-1] = 'y'
		}
		for i, call := range []struct {
			key    string
			status int
			looks  int
		}{
			{
				key:    "nonsense",
				status: 401,
			}, {
				key:    r.key,
				status: 200,
				looks:  1,
			}, {key: r.key, status: 200, looks: 1}, {key: "nonsense", status: 401}, {
				key:    string(flipped),
				status: 401,
			},
			{
				key:    r.key + "0",
				status: 401,
			}, {key: strings.Repeat("x", 200), status: 401}, {key: mintUnknown(t), status: 401, looks: 1}, {
				key:    other,
				status: 200,
				looks:  1,
			}, {
				key:    r.key,
				status: 200,
				looks:  1,
			},
		} {
			before := r.keys.looks()
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, line, "X-API-Key: "+call.key))
			got := r.readReply(from, "GET")
			if looks := r.keys.looks() - before; got.StatusCode != call.status || looks != call.looks {
				t.Errorf(
					"%s, call %d: %d after %d lookups, want %d after %d", path, i, got.StatusCode, looks,
					call.status, call.looks,
				)
			}
		}
	}
}

func TestKey_oldSecret(t *testing.T) {
	r := newRig(t, nil)
	old := mintUnknown(t)
	r.keys.putOld(old, snapshot.Key{
		ID:          "key_1",
		ProjectID:   "prj_shop",
		Owner:       "billing",
		TenantID:    "tnt_1",
		State:       snapshot.KeyActive,
		GraceEndsAt: time.Now().Add(time.Hour),
	})
	if got := r.get("/shop/1.0.0/prod", "X-API-Key: "+old); got.StatusCode != 200 {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	if id := r.lastCall().header.Get("X-Credential-Identifier"); id != "key_1" {
		t.Errorf("credential %q, want the key's own id", id)
	}
}

// The end of a grace, and of a key, is a moment and belongs to what comes after.
func TestKey_expiry(t *testing.T) {
	end := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for path, lines := range map[string][]string{"the engine": nil, "net/http": {"TE: trailers"}} {
		var now atomic.Int64 // nanoseconds since the end
		r := newRig(t, nil, func(_ *rig, o *gateway.Options) {
			o.Clock = func() time.Time { return end.Add(time.Duration(now.Load())) }
		})
		rotated, old, ending := mintUnknown(t), mintUnknown(t), mintUnknown(t)
		key := snapshot.Key{
			ID:        "key_1",
			ProjectID: "prj_shop",
			Owner:     "billing",
			TenantID:  "tnt_1",
			State:     snapshot.KeyActive,
		}
		r.keys.put(rotated, key)
		key.GraceEndsAt = end
		r.keys.putOld(old, key)
		r.keys.put(ending, snapshot.Key{
			ID:        "key_2",
			ProjectID: "prj_shop",
			Owner:     "billing",
			TenantID:  "tnt_1",
			State:     snapshot.KeyActive,
			ExpiresAt: end,
		})
		conn := r.dial()
		defer conn.Close()
		from := bufio.NewReader(conn)
		for _, tick := range []struct {
			at   time.Duration
			want int
		}{{-time.Hour, 200}, {-1, 200}, {0, 401}, {1, 401}, {-1, 200}, {time.Hour, 401}} {
			now.Store(int64(tick.at))
			for what, secret := range map[string]string{
				"the secret before": old,
				"a key that ends":   ending,
				"the new secret":    rotated,
			} {
				want := tick.want
				if secret == rotated {
					want = 200
				}
				// One connection all along: nothing about a caller is remembered with it.
				_, _ = io.WriteString(
					conn, request("GET", "/shop/1.0.0/prod", r.addr, append(lines, "X-API-Key: "+secret)...),
				)
				if got := r.readReply(from, "GET"); got.StatusCode != want {
					t.Errorf("%s, %s, %d ns from the end: %d, want %d", path, what, tick.at, got.StatusCode, want)
				}
			}
		}
	}
}

func TestKey_revoked(t *testing.T) {
	r := newRig(t, nil)
	if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
		t.Fatalf("before: %d %s", got.StatusCode, got.body)
	}
	r.keys.put(r.key, snapshot.Key{
		ID:        "key_1",
		ProjectID: "prj_shop",
		Owner:     "billing",
		TenantID:  "tnt_1",
		State:     snapshot.KeyRevoked,
	})
	r.wantCode("after", r.get("/shop/1.0.0/prod"), 401, "invalid_key")
}

var (
	houseIdentity = map[string]string{
		"X-Consumer-Id":        policy.ConsumerID("prj_shop", "fallback-owner"),
		"X-Consumer-Username":  "fallback-owner",
		"X-Consumer-Custom-Id": "fallback-owner",
		"X-Project-Id":         "prj_shop",
	}
	noIdentity    = map[string]string{"X-Project-Id": "prj_shop"}
	ownerFallback = withProject(func(p *snapshot.Project) { p.Versions[0].Access.Keyless = snapshot.OwnerFallback })
)

var modeCases = []struct {
	name     string
	options  []rigOption
	lines    []string
	status   int
	identity map[string]string
	key      string // as the upstream got it
}{
	{
		name:     "passthrough, no key",
		options:  []rigOption{withMode(snapshot.Passthrough)},
		lines:    []string{noKey},
		status:   200,
		identity: noIdentity,
	},
	{
		name:     "passthrough, some key",
		options:  []rigOption{withMode(snapshot.Passthrough)},
		lines:    []string{"X-API-Key: mine"},
		status:   200,
		identity: noIdentity,
		key:      "mine",
	},
	{
		name:     "passthrough with keys, no key",
		options:  []rigOption{withMode(snapshot.Passthrough, snapshot.APIKey)},
		lines:    []string{noKey},
		status:   200,
		identity: noIdentity,
	},
	{
		name:    "passthrough with keys, bad key",
		options: []rigOption{withMode(snapshot.Passthrough, snapshot.APIKey)},
		lines:   []string{"X-API-Key: mine"},
		status:  401,
	},
	{
		name:     "fallback, no key",
		options:  []rigOption{ownerFallback},
		lines:    []string{noKey},
		status:   200,
		identity: houseIdentity,
	},
	{
		name:     "fallback, no key but another spelling",
		options:  []rigOption{ownerFallback},
		lines:    []string{noKey, "x_api_key: mine"},
		status:   200,
		identity: houseIdentity,
	},
	{
		name:    "fallback, bad key",
		options: []rigOption{ownerFallback},
		lines:   []string{"X-API-Key: mine"},
		status:  401,
	},
}

func TestAccess_modes(t *testing.T) {
	for _, tc := range modeCases {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, nil, tc.options...)
			got := r.get("/shop/1.0.0/prod", append(tc.lines, "X-Consumer-ID: forged", "x_tenant_id: forged",
				"x-project-id: forged")...)
			if got.StatusCode != tc.status {
				t.Fatalf("%d %s, want %d", got.StatusCode, got.body, tc.status)
			}
			if tc.status != 200 {
				return
			}
			h := r.lastCall().header
			if have := fmt.Sprint(identityOf(h)); have != fmt.Sprint(tc.identity) {
				t.Errorf("identity headers %s, want %v", have, tc.identity)
			}
			if h.Get("X-Api-Key") != tc.key || h["X_api_key"] != nil {
				t.Errorf("the upstream got key %q and %q, want %q alone", h.Get("X-Api-Key"), h["X_api_key"], tc.key)
			}
		})
	}
}

func TestKey_notLogged(t *testing.T) {
	r := newRig(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, lines := range [][]string{
		{}, {noKey, "Authorization: " + r.key}, {"X-API-Key: " + r.key, "X-API-Key: x"},
		{"Bad Header: " + r.key}, {"Content-Length: x" + r.key},
	} {
		r.get("/shop/1.0.0/prod?key="+r.key, lines...)
	}
	if log := r.log.String(); strings.Contains(log, r.key) {
		t.Errorf("the key is in the log:\n%s", log)
	}
	if log := r.log.String(); !strings.Contains(log, "could not reach the upstream") {
		t.Errorf("the failed upstream is not in the log:\n%s", log)
	}
}
