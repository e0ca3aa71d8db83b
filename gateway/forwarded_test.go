package gateway_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// posted is a call with a body of JSON.
func posted(body string) func(*rig) string {
	return func(r *rig) string {
		return jsonRequest("/shop/1.0.0/prod/orders", r.addr, body, "X-API-Key: "+r.key)
	}
}

// got is a call without a body.
func got(lines ...string) func(*rig) string {
	return func(r *rig) string { return request("GET", "/shop/1.0.0/prod/orders", r.addr, r.withKey(lines)...) }
}

// forwardCases have a call for each way to refuse it on its way to the upstream, and for each way to fail there.
func forwardCases(t *testing.T) []forwardCase {
	one := snapshot.Changes{Add: []string{"added:1"}}
	changed := withTransforms(snapshot.Transforms{RequestBody: one})
	changedAnswer := withTransforms(snapshot.Transforms{ResponseBody: snapshot.BodyChanges{Changes: one}})
	hangsUp := rawUpstream(t, func(conn net.Conn, _ *bufio.Reader) { _ = conn.Close() })
	long := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		_, _ = readHead(from)
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			policy.MaxChangedBody+1, strings.Repeat("x", policy.MaxChangedBody+1))
	})
	chunked := func(r *rig) string {
		return request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Transfer-Encoding: chunked") +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 101, strings.Repeat("x", 101))
	}
	bodies := func(all, ofOne int64) rigOption { return withLimits(gateway.Limits{Bodies: all, BodiesOfOne: ofOne}) }
	return []forwardCase{
		{"no key", "401 credentials_required", false, got(noKey), nil},
		{"an invalid key", "401 invalid_key", false, got("X-API-Key: x"), nil},
		{"a long body", "413 body_too_large", false, posted(strings.Repeat("x", 101)),
			[]rigOption{withLimits(gateway.Limits{Body: 100})}},
		{"a loop", "508 loop_detected", false, got("Via: 1.1 cdn" + strings.Repeat(", 1.1 postern", 10)), nil},
		{"no slot", "503 upstream_busy", false, got(), []rigOption{withLimits(gateway.Limits{InProgress: -1})}},
		{"no slot for the address", "429 rate_limited", false, got(),
			[]rigOption{withLimits(gateway.Limits{InProgressFromOne: -1})}},
		{"no token of the provider", "503 provider_token_unavailable", false,
			got(noKey, bearer+"cannot-open"), []rigOption{withHosted()}},
		{"a call that doesn't match the document", "422 invalid_request", false, posted(`{"price":"x"}`),
			[]rigOption{withDocument(snapshot.ValidationEnforce, "")}},
		{"too little memory to validate the body", "413 body_too_large", false, posted(`{"price":1}`),
			[]rigOption{withDocument(snapshot.ValidationEnforce, ""), bodies(1, 1<<20)}},
		{"too little memory to change the body", "413 body_too_large", false, posted(`{"a":1}`),
			[]rigOption{changed, bodies(1, 1<<20)}},
		{"a body that can't be changed", "400 bad_body", false, posted("1"), []rigOption{changed}},
		{"an address that isn't allowed", "502 upstream_unreachable", false, got(),
			[]rigOption{withTarget("http://10.255.255.1")}},

		{"an answer", "200 ", true, got(), nil},
		{"an upstream that hangs up", "502 upstream_unreachable", true, got(), []rigOption{withTarget(hangsUp)}},
		{"an answer that is too large to be changed", "502 response_too_large", true, got(),
			[]rigOption{withTarget(long), changedAnswer}},
		{"a body that gets long while it is sent", "413 body_too_large", true, chunked,
			[]rigOption{withLimits(gateway.Limits{Body: 100})}},
	}
}

type forwardCase struct {
	name, want string // the status and the code
	forwarded  bool
	call       func(*rig) string
	options    []rigOption
}

// TestObserver_forwarded checks that a refusal is the gateway's own until the call is forwarded. TestBodyMemory has the
// calls that are refused because others use the memory.
func TestObserver_forwarded(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		for _, tc := range forwardCases(t) {
			o := outcomes{make(chan gateway.Outcome, 1)}
			observed := func(_ *rig, options *gateway.Options) { options.Observer = o }
			r := newRig(t, nil, append(tc.options, path, observed)...)
			r.raw(tc.call(r))
			out := within(t, tc.name, o.got)
			if got := fmt.Sprintf("%d %s", out.Status, out.Code); got != tc.want || out.Forwarded != tc.forwarded {
				t.Errorf("%s: %s at %s, forwarded %v; want %s and %v", tc.name, got, out.Step, out.Forwarded,
					tc.want, tc.forwarded)
			}
			if calls := r.upstreamCalls(); !tc.forwarded && len(calls) > 0 {
				t.Errorf("%s: the upstream got %+v", tc.name, calls)
			}
		}
	})
}

// TestObserver_tries checks how often a call was sent, and where to, in its outcome.
func TestObserver_tries(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		good := servedBy(t, func(http.ResponseWriter, *http.Request) {})
		for name, tc := range testkit.ByName(map[string]struct {
			targets []snapshot.UpstreamTarget
			tries   int
			target  string
		}{
			"one target":          {nil, 1, ""},
			"a target that fails": {[]snapshot.UpstreamTarget{target(refusing(t), 1), target(good, 1)}, 2, good},
			"the first of two":    {[]snapshot.UpstreamTarget{target(good, 1), target(refusing(t), 1)}, 1, good},
		}) {
			o := outcomes{make(chan gateway.Outcome, 1)}
			observed := func(_ *rig, options *gateway.Options) { options.Observer = o }
			r := newRig(t, nil, path, observed, withUpstream(func(u *snapshot.Upstream) { u.Targets = tc.targets }))
			r.get("/shop/1.0.0/prod")
			want := strings.TrimPrefix(tc.target, "http://")
			if out := within(t, name, o.got); out.Tries != tc.tries || out.Target != want {
				t.Errorf("%s: %d tries, the last one at %q; want %d and %q", name, out.Tries, out.Target, tc.tries,
					want)
			}
		}
		o := outcomes{make(chan gateway.Outcome, 1)}
		observed := func(_ *rig, options *gateway.Options) { options.Observer = o }
		newRig(t, nil, path, observed).call("GET", "/shop/1.0.0/prod", "X-API-Key: wrong")
		if out := within(t, "a refused call", o.got); out.Tries != 0 {
			t.Errorf("a refused call has %d tries", out.Tries)
		}
	})
}
