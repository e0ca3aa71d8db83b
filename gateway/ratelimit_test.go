package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/service/ratelimit"
)

// slowPath is a line that has net/http carry a call.
const slowPath = "TE: trailers"

// limitedRig serves the sample project with these limits, at a time that stands still.
func limitedRig(t *testing.T, answer http.HandlerFunc, limits snapshot.ProjectLimits) *rig {
	t.Helper()
	return newRig(t, answer, func(r *rig, o *gateway.Options) {
		r.project.Limits = limits
		o.Limiter = ratelimit.NewLocal()
		o.Clock = func() time.Time { return time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC) }
	})
}

func TestLimits_bothPaths(t *testing.T) {
	observed := outcomes{make(chan gateway.Outcome, 8)}
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit-Limit", "the upstream's")
		w.Header().Set("X-RateLimit-Remaining-Day", "the upstream's")
		w.Header().Set("X-RateLimit-Limit", "of another kind")
		_, _ = io.WriteString(w, "ok")
	}, func(r *rig, o *gateway.Options) {
		r.project.Limits = snapshot.ProjectLimits{
			Key:     snapshot.Limits{snapshot.Minute: 3},
			Project: snapshot.Limits{snapshot.Day: 100},
		}
		o.Limiter, o.Observer = ratelimit.NewLocal(), observed
		o.Clock = func() time.Time { return time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC) }
	})
	for i, lines := range [][]string{nil, {slowPath}, nil} {
		got := r.get("/shop/1.0.0/prod", lines...)
		if got.StatusCode != 200 || got.body != "ok" {
			t.Fatalf("call %d: %d %s", i, got.StatusCode, got.body)
		}
		left := string(rune('2' - i))
		wantLines(t, "admitted", got, "X-RateLimit-Limit-Minute", "3")
		wantLines(t, "admitted", got, "X-RateLimit-Remaining-Minute", left)
		wantLines(t, "admitted", got, "RateLimit-Limit", "3")
		wantLines(t, "admitted", got, "RateLimit-Remaining", left)
		wantLines(t, "admitted", got, "RateLimit-Reset", "30")
		wantLines(t, "admitted", got, "X-RateLimit-Limit-Day", "100")
		wantLines(t, "the upstream's own", got, "X-RateLimit-Limit", "of another kind")
		wantLines(t, "admitted", got, "Retry-After")
		within(t, "the outcome", observed.got)
	}
	for _, lines := range [][]string{nil, {slowPath}} {
		got := r.get("/shop/1.0.0/prod", lines...)
		r.wantCode("one call too many", got, 429, "rate_limited")
		wantLines(t, "refused", got, "Retry-After", "30")
		wantLines(t, "refused", got, "RateLimit-Remaining", "0")
		wantLines(t, "refused", got, "X-RateLimit-Remaining-Day", "97")
		if o := within(t, "the outcome", observed.got); o.Step != gateway.StepLimits || o.Code != "rate_limited" ||
			o.Owner != "billing" {
			t.Errorf("observed %+v", o)
		}
	}
	if n := len(r.upstreamCalls()); n != 3 {
		t.Errorf("the upstream got %d calls", n)
	}
	r.wantCode("a caller without a key", r.get("/shop/1.0.0/prod", noKey), 401, "credentials_required")
	other := r.mint("prod", snapshot.Key{ID: "key_2", Owner: "billing", Limits: &snapshot.Limits{snapshot.Second: 1}})
	wantLines(t, "a key with its own limits", r.get("/shop/1.0.0/prod", "X-API-Key: "+other), "RateLimit-Limit", "1")
}

func TestLimits_quota(t *testing.T) {
	r := limitedRig(t, nil, snapshot.ProjectLimits{Owner: snapshot.Limits{snapshot.Month: 1}})
	r.get("/shop/1.0.0/prod")
	got := r.get("/shop/1.0.0/prod")
	r.wantCode("over the quota", got, 429, "quota_exceeded")
	wantLines(t, "to the end of November", got, "Retry-After", "907170")
}

// Limits of each address hold for callers without a key as well.
func TestLimits_addresses(t *testing.T) {
	r := newRig(t, nil, func(r *rig, o *gateway.Options) {
		r.project.Limits.IP = snapshot.Limits{snapshot.Year: 1}
		r.project.Versions[0].Access.Mode, r.project.Versions[0].Access.Methods = snapshot.Passthrough, nil
		o.Limiter, o.Trusted = ratelimit.NewLocal(), []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for _, lines := range [][]string{{noKey}, {noKey, slowPath}} {
		from := "X-Forwarded-For: 192.0.2." + string(rune('0'+len(lines)))
		if got := r.get("/shop/1.0.0/prod", append(lines, from)...); got.StatusCode != 200 {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
		r.wantCode("again", r.get("/shop/1.0.0/prod", append(lines, from)...), 429, "quota_exceeded")
	}
}

// 64 connections at once, half of them on each path: not one call too many.
func TestLimits_concurrent(t *testing.T) {
	const limit = 100
	r := limitedRig(t, nil, snapshot.ProjectLimits{Project: snapshot.Limits{snapshot.Hour: limit}})
	var admitted atomic.Int64
	var callers sync.WaitGroup
	for caller := range 64 {
		callers.Go(func() {
			for range 5 {
				lines := []string{slowPath}[:caller%2]
				if r.get("/shop/1.0.0/prod", lines...).StatusCode == 200 {
					admitted.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if n := len(r.upstreamCalls()); n != limit || admitted.Load() != limit {
		t.Errorf("%d calls reached the upstream, %d were answered by it, want %d", n, admitted.Load(), limit)
	}
}

type broken struct{}

func (broken) Take(context.Context, *policy.Tally) error { return errors.New("out of order") }
func (b broken) ForConnection() policy.Limiter           { return b }

func TestLimits_failingCounter(t *testing.T) {
	for name, limiter := range map[string]gateway.Limiter{"none": nil, "broken": broken{}} {
		r := newRig(t, nil, func(r *rig, o *gateway.Options) {
			r.project.Limits.Owner = snapshot.Limits{snapshot.Year: 1000}
			o.Limiter = limiter
		})
		for _, lines := range [][]string{nil, {slowPath}} {
			r.wantCode(name, r.get("/shop/1.0.0/prod", lines...), 503, "limits_unavailable")
		}
		if n := len(r.upstreamCalls()); n != 0 {
			t.Errorf("%s: the upstream got %d calls", name, n)
		}
	}
}

func TestIPRules_bothPaths(t *testing.T) {
	r := newRig(t, nil, func(r *rig, _ *gateway.Options) {
		r.project.Versions[0].Access.IP.Deny = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}
	})
	key := r.mint("prod", snapshot.Key{
		ID:         "key_2",
		Owner:      "billing",
		AllowedIPs: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	})
	for _, lines := range [][]string{nil, {slowPath}} {
		if got := r.get("/shop/1.0.0/prod", lines...); got.StatusCode != 200 {
			t.Errorf("from an address that is not denied: %d %s", got.StatusCode, got.body)
		}
		r.wantCode(
			"a key used from elsewhere", r.get("/shop/1.0.0/prod", append(lines, "X-API-Key: "+key)...), 403,
			"ip_denied",
		)
		conn := r.from("127.0.0.2")
		_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, append(lines, "X-API-Key: "+r.key)...))
		r.wantCode("from an address that is denied", r.readReply(bufio.NewReader(conn), "GET"), 403, "ip_denied")
		_ = conn.Close()
	}
}
