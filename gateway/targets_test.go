package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
	"postern/testkit/ports"
)

// named starts an upstream that responds with a name.
func named(t *testing.T, name string) string {
	t.Helper()
	return servedBy(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) })
}

func servedBy(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// refusing returns the URL of a port that nothing listens on.
func refusing(t *testing.T) string {
	t.Helper()
	return "http://" + ports.Address(t)
}

// target returns a target below /base.
func target(url string, weight int) snapshot.UpstreamTarget {
	return snapshot.UpstreamTarget{URL: url + "/base", Weight: &weight}
}

func balanced(by snapshot.UpstreamBalance, targets ...snapshot.UpstreamTarget) rigOption {
	return withUpstream(func(u *snapshot.Upstream) { u.Targets, u.Balance = targets, &by })
}

// withUpstream edits the upstream of the environment prod. Its first target is that of the environment.
func withUpstream(edit func(*snapshot.Upstream)) rigOption {
	return withProject(func(p *snapshot.Project) {
		e := &p.Versions[0].Environments[1]
		edit(&e.Upstream)
		e.Target = e.Upstream.TargetsOr(e.Target)[0].URL
	})
}

// republish publishes the project with another upstream of prod.
func (r *rig) republish(edit func(*snapshot.Upstream)) {
	r.t.Helper()
	next := *r.project
	next.Versions = slices.Clone(next.Versions)
	next.Versions[0].Environments = slices.Clone(next.Versions[0].Environments)
	r.project = &next
	withUpstream(edit)(r, nil)
	if err := r.gateway.Publish([]*snapshot.Project{r.project}); err != nil {
		r.t.Fatal(err)
	}
}

// collect calls the rig n times, and returns what the caller got, with the number of times.
func (r *rig) collect(client *http.Client, n int) map[string]int {
	r.t.Helper()
	got := map[string]int{}
	for range n {
		got[strings.TrimSuffix(strings.TrimPrefix(r.told(client), "200 "), " complete")]++
	}
	return got
}

func wantAnswers(t *testing.T, got, want map[string]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("callers got %v, want %v", got, want)
	}
}

func TestTargets_weights(t *testing.T) {
	for path, start := range testkit.ByName(paths(t)) {
		t.Run(path, func(t *testing.T) {
			a, b, c := named(t, "a"), named(t, "b"), named(t, "c")
			r, client := start(nil, balanced(snapshot.BalanceRoundRobin, target(a, 2), target(b, 1), target(c, 0)))
			wantAnswers(t, r.collect(client, 9), map[string]int{"a": 6, "b": 3})
			r.republish(func(u *snapshot.Upstream) { // a is drained, and c comes back
				u.Targets = []snapshot.UpstreamTarget{target(a, 0), target(b, 1), target(c, 1)}
			})
			wantAnswers(t, r.collect(client, 4), map[string]int{"b": 2, "c": 2})
		})
	}
}

// TestTargets_host checks that each target gets its own Host, also if a call is sent to a second one.
func TestTargets_host(t *testing.T) {
	for path, start := range testkit.ByName(paths(t)) {
		t.Run(path, func(t *testing.T) {
			good := servedBy(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, r.Host+r.URL.Path)
			})
			r, client := start(nil, balanced(snapshot.BalanceRoundRobin, target(refusing(t), 1), target(good, 1)))
			host := strings.TrimPrefix(good, "http://")
			wantAnswers(t, r.collect(client, 4), map[string]int{host + "/base": 4})
		})
	}
}

func TestTargets_leastConnections(t *testing.T) {
	for path, start := range testkit.ByName(paths(t)) {
		t.Run(path, func(t *testing.T) {
			arrived, leave := make(chan struct{}), make(chan struct{})
			slow := servedBy(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusOK) // its head doesn't end the call
				_ = http.NewResponseController(w).Flush()
				arrived <- struct{}{}
				<-leave
				_, _ = io.WriteString(w, "slow")
			})
			r, client := start(nil, balanced(snapshot.BalanceLeastConnections, target(slow, 1)))
			done := make(chan string)
			go func() { done <- r.told(client) }()
			within(t, "the call to the slow target", arrived)
			fast := named(t, "fast")
			r.republish(func(u *snapshot.Upstream) {
				u.Targets = []snapshot.UpstreamTarget{target(slow, 1), target(fast, 1)}
			})
			wantAnswers(t, r.collect(client, 5), map[string]int{"fast": 5})
			close(leave)
			if got := within(t, "the slow call", done); got != "200 slow complete" {
				t.Errorf("the slow call got %q", got)
			}
		})
	}
}

func TestTargets_hash(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	var targets []snapshot.UpstreamTarget
	for _, name := range names {
		targets = append(targets, target(named(t, name), 1))
	}
	for by, line := range testkit.ByName(map[snapshot.UpstreamBalance]func(int) string{
		snapshot.HashHeader + "X-Session": func(i int) string { return "x-session: " + strconv.Itoa(i) },
		snapshot.HashOwner:                nil,
		snapshot.HashKey:                  nil,
		snapshot.HashIP:                   nil,
	}) {
		for path, options := range testkit.ByName(map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}}) {
			t.Run(string(by)+" "+path, func(t *testing.T) {
				r := newRig(t, nil, append(options, balanced(by, targets...))...)
				all := map[string]bool{}
				for i := range 20 {
					var lines []string
					switch {
					case line != nil:
						lines = []string{line(i)}
					case by == snapshot.HashOwner, by == snapshot.HashKey:
						r.key = r.mint("prod", snapshot.Key{
							ID: "key_" + strconv.Itoa(i), Owner: "owner-" + strconv.Itoa(i), TenantID: "tnt_1",
						})
					}
					first := r.get("/shop/1.0.0/prod", lines...).body
					for range 3 {
						if again := r.get("/shop/1.0.0/prod", lines...).body; again != first {
							t.Fatalf("calls with the same value went to %q and %q", first, again)
						}
					}
					all[first] = true
				}
				if spread := by != snapshot.HashIP; (len(all) > 1) != spread {
					t.Errorf("calls with 20 values went to %v", all)
				}
			})
		}
	}
}

func breaker(failures, openMS int) func(*snapshot.Upstream) {
	return func(u *snapshot.Upstream) {
		u.Breaker = snapshot.UpstreamBreaker{Failures: &failures, OpenMS: &openMS}
	}
}

func TestTargets_breaker(t *testing.T) {
	for path, options := range testkit.ByName(map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}}) {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, append(options, withUpstream(func(u *snapshot.Upstream) {
				u.Targets = []snapshot.UpstreamTarget{target(refusing(t), 1)}
				breaker(4, never)(u)
			}))...)
			for range 2 { // each is sent twice
				r.wantCode("a call before the breaker opens", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
			}
			stopped := r.get("/shop/1.0.0/prod")
			r.wantCode("a call after that", stopped, 503, "upstream_open")
			after := stopped.Header.Get("Retry-After")
			if wait, err := strconv.Atoi(after); err != nil || wait < 1 || wait > never/1000 {
				t.Errorf("Retry-After is %q", after)
			}
			r.republish(breaker(100, never))
			r.wantCode("a call after another setting", r.get("/shop/1.0.0/prod"), 503, "upstream_open")
			r.republish(func(u *snapshot.Upstream) { u.Breaker = snapshot.UpstreamBreaker{} })
			r.wantCode("a call without a breaker", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
		})
	}
}

// TestTargets_failures checks which calls count as failures: each call would open the breaker.
func TestTargets_failures(t *testing.T) {
	answering := func(status int) func(*testing.T) string {
		return func(t *testing.T) string {
			return servedBy(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		}
	}
	for name, tc := range map[string]struct {
		url    func(*testing.T) string
		first  int    // status of the call
		reason string // why the target isn't healthy then; "" if the call doesn't count
	}{
		"a status that calls are sent again for": {answering(503), 503, "status 503"},
		"another status":                         {answering(502), 502, ""},
		"a connection that is refused":           {refusing, 502, "connection refused"},
		"a broken response": {func(t *testing.T) string {
			return servedBy(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		}, 502, "no response"},
		"no response in time": {func(t *testing.T) string {
			return servedBy(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		}, 504, "timeout"},
		"an address that isn't allowed": {func(*testing.T) string { return "http://10.1.2.3" }, 502, ""},
	} {
		for path, options := range testkit.ByName(map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}}) {
			t.Run(name+" "+path, func(t *testing.T) {
				r := newRig(t, nil, append(options, withUpstream(func(u *snapshot.Upstream) {
					u.Targets = []snapshot.UpstreamTarget{target(tc.url(t), 1)}
					u.Retries = snapshot.UpstreamRetries{Max: new(0), On: &[]snapshot.RetryCondition{"503"}}
					u.Timeouts.ResponseMS = new(soon)
					breaker(1, never)(u)
				}))...)
				if got := r.get("/shop/1.0.0/prod").StatusCode; got != tc.first {
					t.Errorf("the first call got %d, want %d", got, tc.first)
				}
				if got := r.get("/shop/1.0.0/prod"); (got.code() == "upstream_open") != (tc.reason != "") {
					t.Errorf("the second call got %d %s", got.StatusCode, got.body)
				}
				want := map[bool]string{false: "open", true: gateway.StateHealthy}[tc.reason == ""]
				if got := r.gateway.Health(); len(got) != 1 || got[0].State != want || got[0].Reason != tc.reason {
					t.Errorf("the health is %+v, want %s because of %q", got, want, tc.reason)
				}
			})
		}
	}
}

// TestTargets_breakerTrial checks that the one call for which an open breaker waits closes it, and that a caller who
// leaves frees its place.
func TestTargets_breakerTrial(t *testing.T) {
	for path, options := range testkit.ByName(map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}}) {
		t.Run(path, func(t *testing.T) {
			var works atomic.Bool
			arrived := make(chan struct{}, 1)
			up := servedBy(t, func(_ http.ResponseWriter, req *http.Request) {
				switch {
				case !works.Load():
					panic(http.ErrAbortHandler)
				case req.URL.Query().Has("wait"):
					arrived <- struct{}{}
					<-req.Context().Done()
				}
			})
			r := newRig(t, nil, append(options, withUpstream(func(u *snapshot.Upstream) {
				u.Targets = []snapshot.UpstreamTarget{target(up, 1)}
				breaker(1, 1)(u)
			}))...)
			r.wantCode("the call that opens the breaker", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
			works.Store(true)
			testkit.Eventually(t, "the trial", func() bool {
				conn := r.dial()
				defer func() { _ = conn.Close() }()
				_, _ = io.WriteString(conn, request("GET", "/1.0.0/prod?wait", "shop.proxy.test", r.withKey(nil)...))
				select {
				case <-arrived:
					return true
				case <-time.After(10 * time.Millisecond):
					return false
				}
			})
			testkit.Eventually(t, "a call to be let through", func() bool {
				return r.get("/shop/1.0.0/prod").StatusCode == 200
			})
			if got := r.get("/shop/1.0.0/prod").StatusCode; got != 200 {
				t.Errorf("a call after the breaker has closed got %d", got)
			}
		})
	}
}

func activeChecks(path string, statuses ...snapshot.StatusRange) func(*snapshot.Upstream) {
	every, one := 5, 1
	return func(u *snapshot.Upstream) {
		u.Checks = snapshot.UpstreamChecks{
			Path: &path, IntervalMS: &every, Healthy: &one, Unhealthy: &one, Statuses: statuses,
		}
	}
}

func TestTargets_activeChecks(t *testing.T) {
	var status [2]atomic.Int64
	var uris [2]atomic.Value
	var targets []snapshot.UpstreamTarget
	for i := range status {
		status[i].Store(204)
		targets = append(targets, target(servedBy(t, func(w http.ResponseWriter, req *http.Request) {
			if strings.HasPrefix(req.URL.Path, "/base") {
				_, _ = fmt.Fprint(w, i)
				return
			}
			uris[i].Store(req.Method + " " + req.RequestURI)
			w.WriteHeader(int(status[i].Load()))
		}), 1))
	}
	r := newRig(t, nil, withUpstream(func(u *snapshot.Upstream) {
		u.Targets = targets
		activeChecks("/healthz?full=1", "204")(u)
	}))
	get := func(n int) map[string]int {
		got := map[string]int{}
		for range n {
			got[r.get("/shop/1.0.0/prod").body]++
		}
		return got
	}
	for i := range uris {
		testkit.Eventually(t, "the first check", func() bool { return uris[i].Load() != nil })
		if got := uris[i].Load(); got != "GET /healthz?full=1" {
			t.Errorf("target %d was checked by %v", i, got)
		}
	}
	status[1].Store(200) // which isn't in statuses
	testkit.Eventually(t, "the second target to be out", func() bool { return fmt.Sprint(get(4)) == "map[0:4]" })
	status[0].Store(500)
	testkit.Eventually(t, "both to be out", func() bool { return r.get("/shop/1.0.0/prod").StatusCode == 503 })
	refused := r.get("/shop/1.0.0/prod")
	r.wantCode("a call without a target", refused, 503, "no_healthy_upstream")
	if got := refused.Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After is %q", got)
	}
	explained := r.explained()
	if explained.Denial != policy.NoHealthyUpstream {
		t.Errorf("explained as %+v", explained.Denial)
	}
	status[0].Store(204)
	status[1].Store(204)
	testkit.Eventually(t, "both to be back", func() bool { return fmt.Sprint(get(4)) == "map[0:2 1:2]" })
}

// TestTargets_endedChecks checks that checks end with their project, and with their setting.
func TestTargets_endedChecks(t *testing.T) {
	for name, end := range testkit.ByName(map[string]func(*rig){
		"setting": func(r *rig) { r.republish(func(u *snapshot.Upstream) { u.Checks = snapshot.UpstreamChecks{} }) },
		"takedown": func(r *rig) {
			next := *r.project
			next.TakenDown = true
			_ = r.gateway.Publish([]*snapshot.Project{&next})
		},
		"project": func(r *rig) { _ = r.gateway.Publish(nil) },
	}) {
		t.Run(name, func(t *testing.T) {
			checked := make(chan struct{})
			up := servedBy(t, func(http.ResponseWriter, *http.Request) {
				select {
				case checked <- struct{}{}:
				case <-t.Context().Done():
				}
			})
			r := newRig(t, nil, withUpstream(func(u *snapshot.Upstream) {
				u.Targets = []snapshot.UpstreamTarget{target(up, 1)}
				activeChecks("/")(u)
			}))
			within(t, "a check", checked)
			end(r)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := r.gateway.Wait(ctx); err != nil { // checks are waited for too
				t.Error(err)
			}
		})
	}
}

func TestPublish_invalidTargets(t *testing.T) {
	for name, edit := range testkit.ByName(map[string]func(*snapshot.Upstream){
		"another scheme": func(u *snapshot.Upstream) {
			u.Targets = []snapshot.UpstreamTarget{target("http://a.example", 1), target("https://b.example", 1)}
		},
		"another path": func(u *snapshot.Upstream) {
			u.Targets = []snapshot.UpstreamTarget{target("http://a.example", 1), {URL: "http://b.example/"}}
		},
		"no weight": func(u *snapshot.Upstream) {
			u.Targets = []snapshot.UpstreamTarget{target("http://a.example", 0), target("http://b.example", 0)}
		},
		"an unknown balance": func(u *snapshot.Upstream) { u.Balance = new(snapshot.UpstreamBalance("random")) },
	}) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			withUpstream(edit)(r, nil)
			next := *r.project
			if err := r.gateway.Publish([]*snapshot.Project{&next}); err == nil {
				t.Error("it was published")
			}
		})
	}
}

// explained explains a call with the rig's key.
func (r *rig) explained() policy.Explanation {
	return r.gateway.Explain(policy.Question{
		ProjectID: r.project.ID, Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/x",
		KeyHash: new(sha256.Sum256([]byte(r.key))),
	})
}

func TestExplain_retries(t *testing.T) {
	for _, tc := range []struct {
		max    int
		on     []snapshot.RetryCondition
		method string
		want   string
	}{
		{0, nil, "GET", "It is never retried."},
		{2, []snapshot.RetryCondition{"503", "timeout"}, "GET", "If the connection ends before a response, the " +
			"response doesn't begin in time, or the status is 503, it is retried up to 2 times."},
		{1, []snapshot.RetryCondition{"503"}, "POST", "If no part of it was sent, it is retried up to 1 time."},
	} {
		r := newRig(t, nil, withUpstream(func(u *snapshot.Upstream) {
			u.Retries = snapshot.UpstreamRetries{Max: &tc.max, On: &tc.on}
		}))
		raw, _ := json.Marshal(r.gateway.Explain(policy.Question{
			ProjectID: r.project.ID, Version: "1.0.0", Environment: "prod", Method: tc.method, Path: "/x",
			KeyHash: new(sha256.Sum256([]byte(r.key))),
		}))
		if !strings.Contains(string(raw), tc.want) {
			t.Errorf("%d retries of %s: the explanation doesn't have %q: %s", tc.max, tc.method, tc.want, raw)
		}
	}
	plain, _ := json.Marshal(newRig(t, nil).explained())
	if strings.Contains(string(plain), "retried") {
		t.Errorf("the default is explained: %s", plain)
	}
}

func TestExplain_targets(t *testing.T) {
	r := newRig(t, nil, balanced(snapshot.BalanceRoundRobin,
		target("http://a.example", 1), target("http://b.example", 0)))
	raw, _ := json.Marshal(r.explained())
	for _, want := range []string{"http://a.example, http://b.example (drained)", "/base/x"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the explanation doesn't have %q: %s", want, raw)
		}
	}
}
