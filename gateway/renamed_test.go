package gateway_test

import (
	"net/http"
	"sync"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// renamingKeys has an environment renamed, and its keys follow, while the first key is looked
// up.
type renamingKeys struct {
	gateway.Keys
	once   sync.Once
	rename func()
}

// Lookup implements gateway.Keys.
func (k *renamingKeys) Lookup(team string, hash [32]byte, into *snapshot.Key) (found, old bool) {
	k.once.Do(k.rename)
	return k.Keys.Lookup(team, hash, into)
}

// A call whose environment is renamed between its route and its key finds no route, or the
// environment by its new name, and is never told that its key is wrong.
func TestKey_renamedDuringLookup(t *testing.T) {
	for name, tt := range map[string]struct {
		to   string
		want int
	}{
		"renamed":               {"live", http.StatusNotFound},
		"renamed and back":      {"prod", http.StatusOK},
		"the key is not for it": {"", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			keys := &renamingKeys{}
			r := newRig(t, nil, func(_ *rig, o *gateway.Options) {
				keys.Keys = o.Keys
				o.Keys = keys
			})
			hash := policy.HashKey(r.key)
			keys.rename = func() {
				if tt.to == "" {
					r.keys.byNew[hash].Environment = "other"
					return
				}
				again := *r.project
				again.Versions = append([]snapshot.Version(nil), r.project.Versions...)
				again.Versions[0].Environments = append([]snapshot.Environment(nil), again.Versions[0].Environments...)
				again.Versions[0].Environments[1].Name = tt.to
				again.Revision++
				if err := r.gateway.Publish([]*snapshot.Project{&again}); err != nil {
					t.Error(err)
				}
				r.keys.byNew[hash].Environment = tt.to
			}
			if got := r.get("/shop/1.0.0/prod/x", "X-API-Key: "+r.key); got.StatusCode != tt.want {
				t.Errorf("%d, want %d", got.StatusCode, tt.want)
			}
		})
	}
}
