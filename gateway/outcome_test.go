package gateway_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

var (
	tooLargeBytes = int64(len(policy.BodyTooLarge.Body()))
	refusedBytes  = int64(len(policy.CredentialsRequired.Body()))
)

var stepCases = []struct {
	name, method, body string
	lines              []string
	step, code         string
	in, out            int64
}{
	{
		name:   "a body of known length",
		method: "POST",
		body:   "hello",
		lines:  []string{"Content-Length: 5"},
		step:   gateway.StepForward,
		in:     5,
		out:    2,
	},
	{
		name:   "a chunked body",
		method: "POST",
		body:   "5\r\nhello\r\n0\r\n\r\n",
		lines:  []string{"Transfer-Encoding: chunked"},
		step:   gateway.StepForward,
		in:     5,
		out:    2,
	},
	{name: "an answer without a body", method: "HEAD", step: gateway.StepForward},
	{
		name:   "a refusal",
		method: "GET",
		lines:  []string{noKey},
		step:   gateway.StepAccess,
		code:   "credentials_required",
		out:    refusedBytes,
	},
	{
		name:   "a refusal without a body",
		method: "HEAD",
		lines:  []string{noKey},
		step:   gateway.StepAccess,
		code:   "credentials_required",
	},
	{
		name:   "a refused body",
		method: "POST",
		body:   "hello",
		lines:  []string{noKey, "Content-Length: 5"},
		step:   gateway.StepAccess,
		code:   "credentials_required",
		out:    refusedBytes,
	},
	{
		name:   "a body over the limit",
		method: "POST",
		body:   strings.Repeat("x", 101),
		lines:  []string{"Content-Length: 101"},
		step:   gateway.StepForward,
		code:   "body_too_large",
		out:    tooLargeBytes,
	},
}

func TestObserver_stepAndBytes(t *testing.T) {
	o := outcomes{make(chan gateway.Outcome, 8)}
	r := newRig(t, nil, func(_ *rig, options *gateway.Options) {
		options.Observer, options.Limits = o, gateway.Limits{Body: 100}
	})
	for _, tc := range stepCases {
		conn := r.dial()
		_, _ = io.WriteString(
			conn,
			request(tc.method, "/shop/1.0.0/prod", r.addr, r.withKey(append(tc.lines, "Connection: close"))...)+tc.body,
		)
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
		got := within(t, tc.name, o.got)
		if got.Step != tc.step || got.Code != tc.code || got.BytesIn != tc.in || got.BytesOut != tc.out {
			t.Errorf("%s: step %s, code %q, %d bytes in and %d out; want %s, %q, %d and %d",
				tc.name, got.Step, got.Code, got.BytesIn, got.BytesOut, tc.step, tc.code, tc.in, tc.out)
		}
	}
	r.get("/nowhere/1.0.0/prod")
	if len(o.got) != 0 {
		t.Errorf("a call that found no project is told of: %+v", <-o.got)
	}
}

func TestObserver_expiredProxy(t *testing.T) {
	o := outcomes{make(chan gateway.Outcome, 1)}
	r := newRig(t, nil, withProject(func(p *snapshot.Project) { p.ExpiresAt = time.Now().Add(-time.Second) }),
		func(_ *rig, options *gateway.Options) { options.Observer = o })
	r.get("/shop/1.0.0/prod")
	if got := within(t, "the outcome", o.got); got.Step != gateway.StepRoute || got.Status != 410 {
		t.Errorf("outcome %+v", got)
	}
}

// A clean stop must count the tunnels that it ended.
func TestWait_tunnels(t *testing.T) {
	heads := make(chan string, 1)
	o := outcomes{make(chan gateway.Outcome, 1)}
	r := newRig(
		t, nil, withTarget(switching(t, heads, echo)),
		func(_ *rig, options *gateway.Options) { options.Observer = o },
	)
	conn, from, _ := r.open()
	_, _ = io.WriteString(conn, "hello")
	if _, err := io.ReadFull(from, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.gateway.Wait(over); err == nil {
		t.Error("Wait returned while a tunnel was open")
	}
	r.gateway.Close()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if err := r.gateway.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-o.got:
		if got.Status != 101 || got.BytesIn != 5 || got.BytesOut != 5 {
			t.Errorf("outcome %+v", got)
		}
	default:
		t.Error("Wait returned before the tunnel was observed")
	}
}

type outcomes struct{ got chan gateway.Outcome }

func (o outcomes) Observe(out gateway.Outcome) {
	out.Method, out.Path, out.RemoteIP = strings.Clone(out.Method), strings.Clone(out.Path), strings.Clone(out.RemoteIP)
	o.got <- out
}

func (o outcomes) ForConnection() gateway.CallObserver { return o }

func TestObserver_route(t *testing.T) {
	routed := withProject(func(p *snapshot.Project) {
		p.Versions[0].Routes = []string{"/orders", "/orders/{id}"}
		p.Versions[0].Rules.List = []snapshot.Rule{{ID: "rul_1", Methods: []string{"GET"}, Path: "/staff/{name}"}}
	})
	for path, options := range map[string][]rigOption{"engine": {routed}, "net/http": {routed, onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			o := outcomes{make(chan gateway.Outcome, 1)}
			r := newRig(t, nil, append(options, func(_ *rig, options *gateway.Options) { options.Observer = o })...)
			for rest, want := range map[string]string{
				"/orders/7":   "/orders/{id}",
				"//orders/":   "/orders",
				"/staff/%61n": "/staff/{name}",
				"/x/../admin": policy.OtherRoute,
			} {
				r.get("/shop/1.0.0/prod"+rest, noKey) // refused calls have a route too
				if out := within(t, "the outcome", o.got); out.Route != want {
					t.Errorf("%s: route %q, want %q", rest, out.Route, want)
				}
			}
		})
	}
}

func TestObserve_refusedCaller(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		o := outcomes{make(chan gateway.Outcome, 1)}
		r := newRig(t, nil, path, withRules(snapshot.Rules{List: []snapshot.Rule{
			{ID: "rul_1", Methods: []string{"GET"}, Path: "/admin", Scopes: []string{"admin"}},
		}}), func(_ *rig, options *gateway.Options) { options.Observer = o })
		frozen := r.mint("prod", snapshot.Key{ID: "key_2", Owner: "ana", State: snapshot.KeyFrozen})
		reading := r.mint("prod", snapshot.Key{ID: "key_3", Owner: "bob", Scopes: []string{"read"}})
		for _, tc := range []struct {
			name, path, key, code, owner, id string
		}{
			{"a frozen key", "/", frozen, "key_frozen", "ana", "key_2"},
			{"a key without the scope", "/admin", reading, "insufficient_scope", "bob", "key_3"},
			{"an unknown key", "/", reading[:len(reading)-1], "invalid_key", "", ""},
			{"a call that is let through", "/", reading, "", "bob", "key_3"},
		} {
			r.get("/shop/1.0.0/prod"+tc.path, "X-API-Key: "+tc.key)
			out := within(t, tc.name, o.got)
			if out.Code != tc.code || out.Owner != tc.owner || out.CredentialID != tc.id {
				t.Errorf("%s: %q of %q with %q", tc.name, out.Code, out.Owner, out.CredentialID)
			}
		}
	})
}

func TestObserver_outcome(t *testing.T) {
	o := outcomes{make(chan gateway.Outcome, 4)}
	r := newRig(t, nil, func(_ *rig, options *gateway.Options) { options.Observer = o })
	r.call("POST", "/shop/1.0.0/prod//orders?token=secret", "Content-Length: 0")
	out := within(t, "the outcome", o.got)
	if out.Start.IsZero() || out.Duration < 0 {
		t.Errorf("start %v, duration %v", out.Start, out.Duration)
	}
	if out.FirstByte <= 0 || out.FirstByte > out.Duration {
		t.Errorf("first byte after %v of %v", out.FirstByte, out.Duration)
	}
	out.Start, out.FirstByte, out.Duration = time.Time{}, 0, 0
	want := gateway.Outcome{
		ProjectID: "prj_shop", VersionID: "ver_1", EnvironmentID: "env_prod",
		Owner: "billing", CredentialID: "key_1", RemoteIP: "127.0.0.1", Method: "POST", Path: "/shop/1.0.0/prod/orders",
		Route: gateway.CatchAll, Status: 200, Step: gateway.StepForward, Forwarded: true, Tries: 1,
		BytesOut: int64(len("up")),
	}
	if out != want {
		t.Errorf("outcome %+v, want %+v", out, want)
	}
	r.get("/shop/1.0.0/prod", noKey)
	out = within(t, "the outcome", o.got)
	if out.Status != 401 || out.Code != "credentials_required" || out.Step != gateway.StepAccess {
		t.Errorf("%d %s at %s, want a refusal at access", out.Status, out.Code, out.Step)
	}
	if out.Owner != "" {
		t.Errorf("owner %q, want none", out.Owner)
	}
	if want := int64(len(policy.CredentialsRequired.Body())); out.BytesOut != want {
		t.Errorf("%d bytes out, want %d", out.BytesOut, want)
	}
}
