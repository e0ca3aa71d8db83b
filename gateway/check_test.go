package gateway_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/core/diagnosis"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/platform/egress"
	"postern/testkit/ports"
	"postern/testkit/reports"
)

func (r *rig) check(environment string) diagnosis.Report {
	r.t.Helper()
	got, ok := r.gateway.CheckTarget(r.t.Context(), r.project.ID, environment)
	if !ok {
		r.t.Fatalf("%s is not served", environment)
	}
	return got
}

func TestCheckTarget(t *testing.T) {
	for name, tt := range map[string]struct {
		answer  http.HandlerFunc
		outcome diagnosis.Outcome
		text    string
	}{
		"it works":      {nil, diagnosis.Pass, "HEAD /base/ returned 200, with the first byte after "},
		"nothing there": {http.NotFound, diagnosis.Pass, "doesn't have to serve anything at its base path"},
		"it fails": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, diagnosis.Warn,
			"responds, but with an error"},
		"it refuses": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, diagnosis.Warn,
			"accepts this environment's credentials"},
		"a redirect to the cloud's metadata": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
		}, diagnosis.Pass, "passes redirects on to callers"},
		"HEAD is not taken": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
		}, diagnosis.Pass, "GET /base/ returned 200"},
		"a header without end": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Pad", strings.Repeat("a", 1<<20))
		}, diagnosis.Fail, "its header is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tt.answer)
			got := r.check("env_prod")
			reports.WantStep(t, got, "connect", diagnosis.Pass, "loopback address")
			reports.WantStep(t, got, "tls", diagnosis.Skip, "doesn't use TLS")
			reports.WantStep(t, got, "credentials", diagnosis.Skip, "")
			reports.WantStep(t, got, "answer", tt.outcome, tt.text)
			if len(r.calls) > 2 {
				t.Errorf("the upstream got %d requests", len(r.calls))
			}
		})
	}
}

func TestCheckTarget_credentials(t *testing.T) {
	r := newRig(t, nil, func(r *rig, o *gateway.Options) {
		o.Unsealer = reversed{}
		r.project.Versions[0].Environments[1].Headers = []snapshot.UpstreamHeader{{
			Name: "X-Upstream-Token", Sealed: []byte("terces"),
		}}
	})
	got := r.check("env_prod")
	reports.WantStep(t, got, "credentials", diagnosis.Pass, "the header X-Upstream-Token")
	if value := r.calls[0].header.Get("X-Upstream-Token"); value != "secret" {
		t.Errorf("the upstream got %q", value)
	}
	if text := fmt.Sprint(got); strings.Contains(text, "secret") {
		t.Errorf("the report has the value: %s", text)
	}
}

// TestCheckTarget_tls has the upstreams whose handshakes fail, and the one that demands a certificate.
func TestCheckTarget_tls(t *testing.T) {
	certificate := newClientCertificate(t, "prod.test")
	up := newMutual(t, tls.VersionTLS13, tls.RequireAndVerifyClientCert, certificate)
	t.Run("with the certificate it demands", func(t *testing.T) {
		got := newRig(t, nil, presenting(up, nil, certificate)).check("env_prod")
		reports.WantStep(t, got, "tls", diagnosis.Pass, "TLS 1.3. The certificate is valid until ")
		reports.WantStep(t, got, "answer", diagnosis.Pass, "returned 200")
		if got.Target.CertificateExpiresAt == nil || got.Target.FirstByteMS <= 0 {
			t.Errorf("measured %+v", got.Target)
		}
	})
	t.Run("without it", func(t *testing.T) {
		got := newRig(t, nil, presenting(up, nil, certificate)).check("env_dev")
		reports.WantStep(t, got, "answer", diagnosis.Fail, "client certificate")
	})
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for name, tt := range map[string]struct{ target, text string }{
		"of an unknown authority": {untrusted.URL, "authority that isn't trusted here"},
		"no TLS":                  {strings.Replace(plain.URL, "http:", "https:", 1), "doesn't use TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			reports.WantStep(t, newRig(t, nil, withTarget(tt.target)).check("env_prod"), "tls", diagnosis.Fail, tt.text)
		})
	}
	t.Run("of another host", func(t *testing.T) {
		trust := func(_ *rig, o *gateway.Options) {
			roots := x509.NewCertPool()
			roots.AddCert(untrusted.Certificate())
			o.UpstreamTLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		}
		target := strings.Replace(untrusted.URL, "127.0.0.1", "localhost", 1)
		reports.WantStep(t, newRig(t, nil, withTarget(target), trust).check("env_prod"), "tls", diagnosis.Fail,
			"It is valid only for")
	})
}

func TestCheckTarget_unreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	guarded := func(_ *rig, o *gateway.Options) {
		guard, err := egress.New(egress.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Dial = guard.DialContext
	}
	for name, tt := range map[string]struct {
		target  string
		options []rigOption
		text    string
	}{
		"nothing listens":   {"http://" + ports.Address(t), nil, "refuses connections"},
		"a private network": {"http://10.1.2.3", nil, "that isn't allowed"},
		"this machine, where that is not allowed": {"http://" + silent.Addr().String(), []rigOption{guarded},
			"that isn't allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := newRig(t, nil, append(tt.options, withTarget(tt.target))...).check("env_prod")
			reports.WantStep(t, got, "connect", diagnosis.Fail, tt.text)
			if text := fmt.Sprint(got.Steps); strings.Contains(text, "10.1.2.3") || strings.Contains(text,
				"127.0.0.1") {
				t.Errorf("it names an address: %s", text)
			}
		})
	}
	t.Run("no answer until the deadline", func(t *testing.T) {
		ctx, pass := context.WithCancelCause(t.Context())
		defer pass(nil)
		target := rawUpstream(t, func(_ net.Conn, from *bufio.Reader) {
			_, _ = readHead(from)
			pass(context.DeadlineExceeded)
			_, _ = from.ReadByte() // until the connection is closed
		})
		r := newRig(t, nil, withTarget(target))
		got, _ := r.gateway.CheckTarget(ctx, r.project.ID, "env_prod")
		reports.WantStep(t, got, "answer", diagnosis.Fail, "didn't respond in time")
	})
}

// TestCheckTarget_notHTTP has an upstream that greets as a mail server does.
func TestCheckTarget_notHTTP(t *testing.T) {
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
		_, _ = from.ReadString('\n')
	})
	got := newRig(t, nil, withTarget(target)).check("env_prod")
	reports.WantStep(t, got, "answer", diagnosis.Fail, "")
	if text := fmt.Sprint(got.Steps); strings.Contains(text, "ESMTP") {
		t.Errorf("the report quotes the upstream: %s", text)
	}
}

func TestCheckTarget_notServed(t *testing.T) {
	r := newRig(t, nil)
	for _, at := range [][2]string{{"prj_other", "env_prod"}, {r.project.ID, "env_other"}} {
		if got, ok := r.gateway.CheckTarget(t.Context(), at[0], at[1]); ok {
			t.Errorf("CheckTarget(%v) = %+v", at, got)
		}
	}
	down := newRig(t, nil, withProject(func(p *snapshot.Project) { p.TakenDown = true }))
	reports.WantStep(t, down.check("env_prod"), "connect", diagnosis.Fail, "isn't being served")
	if len(down.calls) > 0 {
		t.Error("a project that is taken down sent a request to its target")
	}
}
