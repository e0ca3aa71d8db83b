package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/gateway"
)

// The owner of an upstream controls how often it fails, and must not control the size of the log.
func TestWarning_failingUpstream(t *testing.T) {
	for path, line := range map[string]string{"the engine": "Accept: */*", "net/http": "TE: trailers"} {
		t.Run(path, func(t *testing.T) {
			begin := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			var passed atomic.Int64
			r := newRig(t, func(w http.ResponseWriter, req *http.Request) {
				if strings.HasSuffix(req.URL.Path, "/midway") {
					w.Header().Set("Content-Length", "10")
					_ = http.NewResponseController(w).Flush()
				}
				panic(http.ErrAbortHandler)
			}, func(_ *rig, o *gateway.Options) {
				o.Clock = func() time.Time { return begin.Add(time.Duration(passed.Load())) }
			})
			fail := func(path string, at time.Duration) {
				passed.Store(int64(at))
				conn := r.dial()
				defer conn.Close()
				_, _ = io.WriteString(
					conn,
					request(
						"POST",
						path,
						r.addr,
						r.withKey([]string{line, "Content-Length: 0", "Connection: close"})...),
				)
				_, _ = io.ReadAll(conn) // to the end, which comes after the line
			}
			lines := func(of string) (n int) {
				for l := range strings.Lines(r.log.String()) {
					if strings.Contains(l, "level=WARN") && strings.Contains(l, of) {
						n++
					}
				}
				return n
			}
			const unreached, brokenOff = "could not reach the upstream", "interrupted"
			for range 3 {
				fail("/shop/1.0.0/prod/a", 0)
			}
			if n := lines(unreached); n != 1 || lines("suppressed") != 0 {
				t.Errorf("%d lines of three failures at once, want 1 that says of no other:\n%s", n, r.log)
			}
			fail("/shop/1.0.0/prod/midway", 0)
			fail("/shop/1.0.0/dev/a", 0)
			if lines(brokenOff) != 1 || lines("environment=dev") != 1 {
				t.Errorf("other trouble, and another environment's, is not in the log:\n%s", r.log)
			}
			fail("/shop/1.0.0/prod/a", time.Second-time.Nanosecond)
			if n := lines(unreached + `" project=shop version=1.0.0 environment=prod`); n != 1 {
				t.Errorf("%d lines within a second, want 1:\n%s", n, r.log)
			}
			fail("/shop/1.0.0/prod/a", time.Second)
			if lines("suppressed=3 since=2026-11-20T12:00:00Z") != 1 {
				t.Errorf("the next line does not count the three that were left out:\n%s", r.log)
			}
			fail("/shop/1.0.0/prod/a", -time.Minute)
			if n := lines(unreached + `" project=shop version=1.0.0 environment=prod`); n != 3 ||
				lines("suppressed") != 1 {
				t.Errorf("%d lines, want 3: a clock that was set back silences no one, and nothing was left out "+
					"since:\n%s", n, r.log)
			}
		})
	}
}
