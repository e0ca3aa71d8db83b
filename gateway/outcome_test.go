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

func TestTheObserverLearnsWhichStepAnsweredAndHowManyBytesWent(t *testing.T) {
	o := outcomes{make(chan gateway.Outcome, 8)}
	r := newRig(t, nil, func(_ *rig, options *gateway.Options) {
		options.Observer, options.Limits = o, gateway.Limits{Body: 100}
	})
	tooLarge, refused := int64(len(policy.BodyTooLarge.Body())), int64(len(policy.CredentialsRequired.Body()))
	for _, tc := range []struct {
		name, method, body string
		lines              []string
		step, code         string
		in, out            int64
	}{
		{"a body of known length", "POST", "hello", []string{"Content-Length: 5"}, gateway.StepForward, "", 5, 2},
		{"a chunked body", "POST", "5\r\nhello\r\n0\r\n\r\n", []string{"Transfer-Encoding: chunked"}, gateway.StepForward, "", 5, 2},
		{"an answer without a body", "HEAD", "", nil, gateway.StepForward, "", 0, 0},
		{"a refusal", "GET", "", []string{noKey}, gateway.StepAccess, "credentials_required", 0, refused},
		{"a refusal without a body", "HEAD", "", []string{noKey}, gateway.StepAccess, "credentials_required", 0, 0},
		{"a refused body", "POST", "hello", []string{noKey, "Content-Length: 5"}, gateway.StepAccess, "credentials_required", 0, refused},
		{"a body over the limit", "POST", strings.Repeat("x", 101), []string{"Content-Length: 101"}, gateway.StepForward, "body_too_large", 0, tooLarge},
	} {
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

func TestAnExpiredProxyIsTheRoutesAnswer(t *testing.T) {
	o := outcomes{make(chan gateway.Outcome, 1)}
	r := newRig(t, nil, withProject(func(p *snapshot.Project) { p.ExpiresAt = time.Now().Add(-time.Second) }),
		func(_ *rig, options *gateway.Options) { options.Observer = o })
	r.get("/shop/1.0.0/prod")
	if got := within(t, "the outcome", o.got); got.Step != gateway.StepRoute || got.Status != 410 {
		t.Errorf("outcome %+v", got)
	}
}

// What a clean stop counts must include the tunnels that it ended.
func TestWaitReturnsWhenTheLastTunnelIsObserved(t *testing.T) {
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
