package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
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

// Upstreams get the identity that they know from the gateway before, and calls count for our key and owner.
func TestImportedKey_identity(t *testing.T) {
	for _, tc := range []struct {
		name     string
		identity contract.KeyIdentity
		want     [4]string // id, username, custom id, credential
	}{
		{"none", contract.KeyIdentity{}, [4]string{policy.ConsumerID("prj_shop", "ana"), "ana", "ana", "key_2"}},
		{"whole", contract.KeyIdentity{
			Consumer:     &contract.Consumer{ID: "c-1", Username: "Ana B", CustomID: "77"},
			CredentialID: new("cred-1"),
		}, [4]string{"c-1", "Ana B", "77", "cred-1"}},
		{"in part", contract.KeyIdentity{Consumer: &contract.Consumer{Username: "Ana B"}},
			[4]string{policy.ConsumerID("prj_shop", "ana"), "Ana B", "ana", "key_2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, nil, withProject(func(p *snapshot.Project) { p.ImportedKeys = true }))
			r.keys.put("legacy-0123456789", snapshot.Key{
				ID: "key_2", ProjectID: "prj_shop", Owner: "ana", TenantID: "tnt_1", State: snapshot.KeyActive,
				KeyIdentity: tc.identity,
			})
			if got := r.statusWith("legacy-0123456789"); got != http.StatusOK {
				t.Fatalf("the call gets %d", got)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			h := r.calls[0].header
			got := []string{
				h.Get("X-Consumer-ID"), h.Get("X-Consumer-Username"), h.Get("X-Consumer-Custom-ID"),
				h.Get("X-Credential-Identifier"),
			}
			if !slices.Equal(got, tc.want[:]) {
				t.Errorf("the upstream gets %q, want %q", got, tc.want)
			}
		})
	}
}
