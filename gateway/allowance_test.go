package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// An hour before midnight.
var lateNovember = time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)

// withCaps has the caps of an unclaimed project edited, and a clock that stands
// still until the test moves it.
func withCaps(later *atomic.Int64, edit func(*gateway.Caps)) rigOption {
	return func(_ *rig, o *gateway.Options) {
		edit(o.Caps)
		o.Clock = func() time.Time { return lateNovember.Add(time.Duration(later.Load())) }
	}
}

func answering(size *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strings.Repeat("x", int(size.Load())))
	}
}

func (r *rig) publish(edit func(*snapshot.Project)) {
	r.t.Helper()
	next := *r.project
	edit(&next)
	if err := r.gateway.Publish([]*snapshot.Project{&next}); err != nil {
		r.t.Fatal(err)
	}
}

func TestUnclaimed_callsPerDay(t *testing.T) {
	for name, caps := range map[string]gateway.Caps{
		"from one address": {IP: snapshot.Limits{snapshot.Minute: 2}},
		"in all":           {Project: snapshot.Limits{snapshot.Minute: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				var later atomic.Int64
				r := newRig(
					t, nil, unclaimed,
					withCaps(&later, func(c *gateway.Caps) { c.IP, c.Project = caps.IP, caps.Project }), path,
				)
				for range 2 {
					if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
						t.Fatalf("%d %s", got.StatusCode, got.body)
					}
				}
				r.publish(func(p *snapshot.Project) { p.FallbackOwner = "else" })
				got := r.get("/shop/1.0.0/prod")
				r.wantCode("one too many", got, 429, "rate_limited")
				wantLines(t, "one too many", got, "Retry-After", "60")
				r.publish(func(p *snapshot.Project) { p.ExpiresAt = time.Time{} })
				if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
					t.Errorf("claimed: %d %s", got.StatusCode, got.body)
				}
			})
		})
	}
}

// Its own limits hold where they are lower, and do not lift the caps.
func TestUnclaimed_ownLimits(t *testing.T) {
	var later atomic.Int64
	r := newRig(t, nil, unclaimed, withCaps(&later, func(*gateway.Caps) {}), withProject(func(p *snapshot.Project) {
		p.Limits.IP = snapshot.Limits{snapshot.Minute: 5}
		p.Limits.Project = snapshot.Limits{snapshot.Minute: 1 << 40, snapshot.Month: 7}
	}))
	got := r.get("/shop/1.0.0/prod")
	wantLines(t, "the lower", got, "X-RateLimit-Limit-Minute", "5")
	wantLines(t, "of the caps", got, "X-RateLimit-Limit-Day", "50000")
	wantLines(t, "its own", got, "X-RateLimit-Limit-Month", "7")
	r.publish(func(p *snapshot.Project) { p.Limits.IP = snapshot.Limits{} })
	wantLines(t, "of the caps", r.get("/shop/1.0.0/prod"), "X-RateLimit-Limit-Minute", "120")
}

func TestUnclaimed_bytesPerDay(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		var size, later atomic.Int64
		size.Store(600)
		r := newRig(t, answering(&size), unclaimed, withCaps(&later, func(c *gateway.Caps) { c.Bytes = 2000 }), path)
		post := func(n int) reply {
			return settled(t, func() reply {
				length := fmt.Sprintf("Content-Length: %d", n)
				head := request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, length)
				return r.raw(head + strings.Repeat("x", n))
			})
		}
		if got := post(700); got.StatusCode != 200 { // 1300 of 2000
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		r.publish(func(p *snapshot.Project) { p.FallbackOwner = "else" })
		full := post(700)
		r.wantCode("a body beyond it", full, 429, "quota_exceeded")
		wantLines(t, "until midnight", full, "Retry-After", "3600")
		if got := post(50); got.StatusCode != 200 { // 1950
			t.Fatalf("what fits: %d %s", got.StatusCode, got.body)
		}
		beyond := settled(t, func() reply { return r.get("/shop/1.0.0/prod") })
		r.wantCode("an answer beyond it", beyond, 429, "quota_exceeded")
		wantLines(t, "until midnight", beyond, "Retry-After", "3600")
		if n := len(r.upstreamCalls()); n != 3 {
			t.Errorf("the upstream got %d calls, want 3", n)
		}
		later.Store(int64(time.Hour))
		if got := post(700); got.StatusCode != 200 {
			t.Errorf("tomorrow: %d %s", got.StatusCode, got.body)
		}
		r.publish(func(p *snapshot.Project) { p.ExpiresAt = time.Time{} })
		for range 5 {
			if got := post(700); got.StatusCode != 200 {
				t.Errorf("claimed: %d %s", got.StatusCode, got.body)
			}
		}
	})
}

// settled asks again while the call before is still giving its room back, which it
// does when its response has arrived already.
func settled(t *testing.T, ask func() reply) reply {
	t.Helper()
	return testkit.Await(t, "the end of the call before", func() (reply, bool) {
		got := ask()
		return got, !strings.Contains(got.body, `"rate_limited"`)
	})
}

// However many calls come at once, what they carry together stays below.
func TestUnclaimed_bytesOfRunningCalls(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		var later atomic.Int64
		begun, release := make(chan struct{}, 1), make(chan struct{})
		r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
			begun <- struct{}{}
			<-release
			_, _ = io.WriteString(w, "short")
		}, unclaimed, withCaps(&later, func(c *gateway.Caps) { c.Bytes = 1000 }), path)
		first := make(chan reply, 1)
		go func() { first <- r.get("/shop/1.0.0/prod") }()
		within(t, "the first call", begun)
		got := r.get("/shop/1.0.0/prod")
		r.wantCode("while the first may need it all", got, 429, "rate_limited")
		wantLines(t, "until it has ended", got, "Retry-After", "1")
		close(release)
		if got := within(t, "the first answer", first); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		if got := settled(t, func() reply { return r.get("/shop/1.0.0/prod") }); got.StatusCode != 200 {
			t.Errorf("after it: %d %s", got.StatusCode, got.body)
		}
	})
}
