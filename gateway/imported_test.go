package gateway_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// statusWith returns the status of a call with a key.
func (r *rig) statusWith(key string) int {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+r.addr+"/shop/1.0.0/prod/orders", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// Keys of another form are looked up only in projects that have imported some.
func TestImportedKey_form(t *testing.T) {
	for _, tc := range []struct {
		name, key string
		imported  bool
		status    int
		looks     int
	}{
		{"of another form", "legacy-0123456789", true, http.StatusOK, 1},
		{"of another form, where none were imported", "legacy-0123456789", false, http.StatusUnauthorized, 0},
		{"4,096 characters", strings.Repeat("a", 4096), true, http.StatusOK, 1},
		{"4,097 characters", strings.Repeat("a", 4097), true, http.StatusUnauthorized, 0},
		{"129 characters, where none were imported", strings.Repeat("a", 129), false, http.StatusUnauthorized, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, nil, withProject(func(p *snapshot.Project) { p.ImportedKeys = tc.imported }))
			r.keys.put(tc.key, snapshot.Key{
				ID: "key_2", ProjectID: "prj_shop", Owner: "ana", TenantID: "tnt_1", State: snapshot.KeyActive,
			})
			before := r.keys.looks()
			if got := r.statusWith(tc.key); got != tc.status || r.keys.looks()-before != tc.looks {
				t.Errorf("got %d after %d lookups, want %d after %d", got, r.keys.looks()-before, tc.status, tc.looks)
			}
			if got := r.statusWith(tc.key + "x"); got != http.StatusUnauthorized {
				t.Errorf("another value gets %d", got)
			}
		})
	}
}

// keptIdentity is a line of core/policy/testdata/kept_identity.jsonl: what the upstream gets of a key of ana. The
// exported gateway's plugin is tested with it, too.
type keptIdentity struct {
	Name     string               `json:"name"`
	Identity contract.KeyIdentity `json:"identity"`
	Headers  map[string]string    `json:"headers"`
}

// Upstreams get the identity that they know from the gateway before, and calls count for our key and owner.
func TestImportedKey_identity(t *testing.T) {
	for _, row := range testkit.Rows[keptIdentity](t, "../core/policy/testdata/kept_identity.jsonl", 8) {
		t.Run(row.Of.Name, row.Of.check)
	}
}

func (row keptIdentity) check(t *testing.T) {
	r := newRig(t, nil, withProject(func(p *snapshot.Project) { p.ImportedKeys = true }))
	r.keys.put("legacy-0123456789", snapshot.Key{
		ID: "key_2", ProjectID: "prj_shop", Owner: "ana", TenantID: "tnt_1", State: snapshot.KeyActive,
		KeyIdentity: row.Identity,
	})
	got := r.get("/shop/1.0.0/prod/x", "X-API-Key: legacy-0123456789", "X-Consumer-Custom-ID: forged")
	if got.StatusCode != http.StatusOK {
		t.Fatalf("the call gets %d", got.StatusCode)
	}
	header := r.upstreamCalls()[0].header
	for _, name := range []string{
		policy.ConsumerIDHeader, policy.UsernameHeader, policy.CustomIDHeader, policy.CredentialHeader,
	} {
		var want []string
		for sent, value := range row.Headers {
			if strings.EqualFold(sent, name) {
				want = append(want, value)
			}
		}
		if got := header.Values(name); !slices.Equal(got, want) {
			t.Errorf("the upstream gets %q as %s, want %q", got, name, want)
		}
	}
}

// keyState is a line of core/policy/testdata/key_states.jsonl: a call to a version, with keys of another form in
// several states. The exported gateway's plugin is tested with it, too.
type keyState struct {
	Name          string              `json:"name"`
	In            []snapshot.KeyPlace `json:"in"`
	Methods       []string            `json:"methods"`
	Headers       [][2]string         `json:"headers"`
	Code          string              `json:"code"`          // of the refusal; "": the call is forwarded
	Introspected  bool                `json:"introspected"`  // whether the gateway introspects the token
	Authorization string              `json:"authorization"` // that the upstream gets
}

// refuser refuses all tokens, and counts them.
type refuser struct{ calls atomic.Int64 }

func (r *refuser) Introspect(
	context.Context, string, *policy.Introspectors, time.Time, *policy.Token,
) (policy.Denial, bool) {
	r.calls.Add(1)
	return policy.InvalidToken, true
}

// No key of another form is sent to the issuer of tokens, whatever its state, and none reaches the upstream next to
// another key.
func TestImportedKey_states(t *testing.T) {
	for _, row := range testkit.Rows[keyState](t, "../core/policy/testdata/key_states.jsonl", 30) {
		t.Run(row.Of.Name, func(t *testing.T) { row.Of.check(t, "legacy-revoked-0123456789") })
		if strings.Contains(row.Text, "REVOKED") {
			t.Run(row.Of.Name+", and removed", func(t *testing.T) { row.Of.check(t, "legacy-removed-0123456789") })
		}
	}
}

func (row keyState) check(t *testing.T, revoked string) {
	issuer := &refuser{}
	r := newRig(t, nil, withMode(snapshot.Authenticate, row.Methods...), inPlaces(row.In),
		func(r *rig, o *gateway.Options) {
			o.Introspector, r.project.ImportedKeys = issuer, true
			r.project.Versions[0].Access.Opaque = &snapshot.Introspection{Introspection: contract.Introspection{
				Endpoint: "https://accounts.example/introspect", Method: snapshot.SecretBasic,
			}}
		})
	past := time.Now().Add(-time.Hour)
	of := func(change func(*snapshot.Key)) snapshot.Key {
		key := snapshot.Key{
			ID: "key_2", ProjectID: "prj_shop", Owner: "ana", TenantID: "tnt_1", State: snapshot.KeyActive,
		}
		change(&key)
		return key
	}
	r.keys.put("legacy-active-0123456789", of(func(*snapshot.Key) {}))
	r.keys.put("legacy-frozen-0123456789", of(func(k *snapshot.Key) { k.State = snapshot.KeyFrozen }))
	r.keys.put("legacy-expired-0123456789", of(func(k *snapshot.Key) { k.ExpiresAt = past }))
	r.keys.put("legacy-revoked-0123456789", of(func(k *snapshot.Key) { k.State = snapshot.KeyRevoked }))
	r.keys.putOld("legacy-ended-0123456789", of(func(k *snapshot.Key) { k.GraceEndsAt = past }))
	r.keys.gone = map[[32]byte]bool{policy.HashKey("legacy-removed-0123456789"): true}
	fill := strings.NewReplacer("ACTIVE", "legacy-active-0123456789", "FROZEN", "legacy-frozen-0123456789",
		"EXPIRED", "legacy-expired-0123456789", "REVOKED", revoked, "ENDED", "legacy-ended-0123456789",
		"UNKNOWN", "legacy-unknown-0123456789")
	lines := []string{noKey}
	for _, h := range row.Headers {
		lines = append(lines, h[0]+": "+fill.Replace(h[1]))
	}
	got := r.get("/shop/1.0.0/prod/x", lines...)
	if got.code() != row.Code || (got.StatusCode == http.StatusOK) != (row.Code == "") {
		t.Errorf("%d %s, want %q", got.StatusCode, got.body, row.Code)
	}
	if introspected := issuer.calls.Load() > 0; introspected != row.Introspected {
		t.Errorf("the token is introspected: %t, want %t", introspected, row.Introspected)
	}
	calls := r.upstreamCalls()
	if len(calls) != 0 && row.Code != "" {
		t.Error("the upstream got a call that was refused")
	}
	for _, call := range calls {
		if has := call.header.Get("Authorization"); has != fill.Replace(row.Authorization) {
			t.Errorf("the upstream gets %q, want %q", has, row.Authorization)
		}
	}
}
