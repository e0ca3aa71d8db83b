package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
)

func sendsMetadata(send bool) rigOption {
	return withProject(func(p *snapshot.Project) { p.Versions[0].Access.APIKey.SendMetadata = &send })
}

// Upstreams get the metadata of the key where the version sends it, and never what a caller sends in its place.
func TestSendMetadata(t *testing.T) {
	for name, tc := range map[string]struct {
		metadata contract.Metadata
		send     bool
		want     []string
	}{
		"sent":          {`{"plan":"gold","city":"Zürich"}`, true, []string{`{"plan":"gold","city":"Z\u00fcrich"}`}},
		"not sent":      {`{"plan":"gold"}`, false, nil},
		"a key without": {"", true, nil},
	} {
		for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			t.Run(name+", "+path, func(t *testing.T) {
				r := newRig(t, nil, append(more, sendsMetadata(tc.send), signed(signingKey("a", time.Time{})))...)
				r.keys.put(r.key, snapshot.Key{
					ID: "key_2", ProjectID: "prj_shop", Owner: "ana", TenantID: "tnt_1", State: snapshot.KeyActive,
					KeyIdentity: contract.KeyIdentity{Metadata: tc.metadata},
				})
				got := r.get("/shop/1.0.0/prod/x", "X-Consumer-Metadata: theirs", "x_consumer_metadata: theirs")
				if got.StatusCode != http.StatusOK {
					t.Fatalf("the call gets %d", got.StatusCode)
				}
				calls := r.upstreamCalls()
				last := calls[len(calls)-1]
				if sent := last.header.Values("X-Consumer-Metadata"); !slices.Equal(sent, tc.want) {
					t.Errorf("the upstream gets %q, want %q", sent, tc.want)
				}
				for spelling := range last.header {
					if strings.EqualFold(spelling, "x_consumer_metadata") {
						t.Errorf("the caller's %s reached the upstream", spelling)
					}
				}
				s, err := r.verify(last, "env_prod")
				if err != nil {
					t.Fatal(err)
				}
				if covered := slices.Contains(s.Covered, "x-consumer-metadata"); covered != (tc.want != nil) {
					t.Errorf("the signature covers %v", s.Covered)
				}
			})
		}
	}
}

// A call without a key has no metadata.
func TestSendMetadata_fallbackOwner(t *testing.T) {
	r := newRig(t, nil, sendsMetadata(true), ownerFallback)
	if got := r.get("/shop/1.0.0/prod/x", noKey, "X-Consumer-Metadata: theirs"); got.StatusCode != http.StatusOK {
		t.Fatalf("the call gets %d", got.StatusCode)
	}
	calls := r.upstreamCalls()
	if sent := calls[len(calls)-1].header.Values("X-Consumer-Metadata"); sent != nil {
		t.Errorf("the upstream gets %q", sent)
	}
}
