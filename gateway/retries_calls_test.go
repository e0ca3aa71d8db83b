package gateway_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/service/ratelimit"
	"postern/testkit"
)

// Each try has its own signature, with the time of the try.
func TestRetries_signature(t *testing.T) {
	for path, through := range testkit.ByName(paths(t)) {
		t.Run(path, func(t *testing.T) {
			up, at := &fickle{steps: []string{"503", "200"}}, time.Now()
			var mu sync.Mutex
			clock := func(_ *rig, o *gateway.Options) {
				o.Clock = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return at.Add(time.Duration(up.calls()) * time.Hour)
				}
			}
			r, client := through(nil, up.start(t), withRetries(1, "503"), signed(signingKey("a", time.Time{})), clock)
			if got := r.sent(client, "PUT", strings.NewReader("x")); got != "200 2" {
				t.Fatalf("the caller got %s", got)
			}
			heads := up.headers()
			for i, h := range heads {
				want := fmt.Sprintf(";created=%d;", at.Add(time.Duration(i)*time.Hour).Unix())
				if input := h.Values("Signature-Input"); len(input) != 1 || !strings.Contains(input[0], want) {
					t.Errorf("try %d is signed by %q, want %s", i+1, input, want)
				}
			}
			if a, b := heads[0].Get("Signature"), heads[1].Get("Signature"); a == b || b == "" {
				t.Errorf("the signatures are %q and %q", a, b)
			}
		})
	}
}

// A call counts once for limits, however often it is sent.
func TestRetries_limits(t *testing.T) {
	for path, through := range testkit.ByName(paths(t)) {
		t.Run(path, func(t *testing.T) {
			up := &fickle{steps: []string{"503", "200", "200", "503", "200"}}
			r, client := through(nil, up.start(t), withRetries(1, "503"), withProject(func(p *snapshot.Project) {
				two := snapshot.Limits{snapshot.Year: 2}
				p.Limits = snapshot.ProjectLimits{Key: two, Owner: two, IP: two, Project: two}
			}), func(_ *rig, o *gateway.Options) { o.Limiter = ratelimit.NewLocal() })
			for _, want := range []string{"200 2", "200 3", "429 quota_exceeded"} {
				if got := r.sent(client, "GET", nil); got != want {
					t.Errorf("the caller got %s, want %s", got, want)
				}
			}
		})
	}
}

// Every try of an unclaimed project counts for its caps.
func TestRetries_unclaimed(t *testing.T) {
	for name, tc := range map[string]struct {
		caps gateway.Caps
		want []string
	}{
		"calls of one address": {
			gateway.Caps{IP: snapshot.Limits{snapshot.Year: 3}, Body: 1000, Response: 1000},
			[]string{"200 2", "503 3", "429 quota_exceeded"},
		},
		"calls of all": {
			gateway.Caps{Project: snapshot.Limits{snapshot.Year: 4}, Body: 1000, Response: 1000},
			[]string{"200 2", "200 4", "429 quota_exceeded"},
		},
		"bytes": {
			gateway.Caps{Body: 1000, Response: 100, Bytes: 2000},
			[]string{"200 2", "503 3", "429 quota_exceeded"},
		},
	} {
		for path, through := range testkit.ByName(paths(t)) {
			t.Run(name+"/"+path, func(t *testing.T) {
				up := &fickle{steps: []string{"503", "200", "503", "200", "503"}}
				r, client := through(nil, up.start(t), unclaimed, withRetries(1, "503"),
					func(_ *rig, o *gateway.Options) { o.Caps = &tc.caps })
				for i, want := range tc.want {
					body := strings.Repeat("x", 500)
					if got := r.sent(client, "PUT", strings.NewReader(body)); got != want {
						t.Errorf("call %d got %s, want %s", i+1, got, want)
					}
				}
			})
		}
	}
}
