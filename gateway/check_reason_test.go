package gateway_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/diagnosis"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
	"postern/testkit/reports"
)

// serverWith is an upstream with a TLS configuration and its own protocols. Without a configuration it doesn't use
// TLS.
func serverWith(t *testing.T, secure *tls.Config, handler http.HandlerFunc, protocols *http.Protocols) string {
	t.Helper()
	up := httptest.NewUnstartedServer(handler)
	up.Config.ErrorLog, up.Config.Protocols = log.New(io.Discard, "", 0), protocols
	if secure == nil {
		up.Start()
	} else {
		up.TLS = secure
		up.StartTLS()
	}
	t.Cleanup(up.Close)
	return up.URL
}

// secureWith is the configuration of a server whose certificate is its own authority.
func secureWith(t *testing.T, end time.Time, names ...string) (*tls.Config, string) {
	t.Helper()
	cert, key := testkit.CertificateUntil(t, end, names...)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, string(cert)
}

// A check says which step of TLS fails, or which protocol the upstream speaks, and what would fix it.
func TestCheckTarget_reasons(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour)
	secure, authority := secureWith(t, tomorrow, "api.internal", "b.internal", "c", "d", "e", "f", "g")
	old, oldAuthority := secureWith(t, time.Now().Add(-time.Minute), "localhost")
	asking := func(version uint16) *tls.Config {
		config := secure.Clone()
		config.ClientAuth, config.MinVersion, config.MaxVersion = tls.RequireAnyClientCert, version, version
		return config
	}
	unknown := &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil },
		MinVersion:     tls.VersionTLS12,
	}
	onlyHTTP2 := secure.Clone()
	onlyHTTP2.NextProtos = []string{"h2"}
	refusing := onlyHTTP2.Clone() // crypto/tls alone negotiates nothing then
	refusing.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		config := onlyHTTP2.Clone()
		if !slices.Contains(hello.SupportedProtos, "h2") {
			config.NextProtos = []string{"none of these"}
		}
		return config, nil
	}
	var prior http.Protocols
	prior.SetUnencryptedHTTP2(true)
	swap := strings.NewReplacer("https:", "http:", "http:", "https:").Replace
	byName := func(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }
	bareTLS := func(config *tls.Config) string { // httptest would add a certificate and HTTP/1.1
		return secureUpstream(t, config, func(_ net.Conn, from *bufio.Reader) { _, _ = readHead(from) })
	}
	tlsServer := func(config *tls.Config) string { return serverWith(t, config, http.NotFound, nil) }
	for name, tc := range map[string]struct {
		target string
		set    snapshot.Upstream
		step   string
		says   []string
	}{
		"another name": {
			byName(tlsServer(secure)), checkedBy(authority, false, ""), "tls",
			[]string{"isn't valid for localhost", `"api.internal", "b.internal"`, "2 more", "--server-name"},
		},
		"another name than server_name": {
			tlsServer(secure), checkedBy(authority, false, "x.internal"), "tls",
			[]string{"isn't valid for x.internal, which is the environment's server_name", `"api.internal"`},
		},
		"an unknown authority": {
			tlsServer(secure), snapshot.Upstream{}, "tls",
			[]string{"isn't trusted here", "--ca", `"CN=api.internal"`, fingerprint(authority)},
		},
		"expired": {
			byName(tlsServer(old)), checkedBy(oldAuthority, false, ""), "tls",
			[]string{`"CN=localhost"`, "expired at", "Renew it"},
		},
		"a client certificate, TLS 1.2": {
			tlsServer(asking(tls.VersionTLS12)), checkedBy(authority, false, ""), "tls",
			[]string{"requires a client certificate", "upstreams certificate set"},
		},
		"a client certificate, TLS 1.3": {
			tlsServer(asking(tls.VersionTLS13)), checkedBy(authority, false, ""), "answer",
			[]string{"requires a client certificate", "upstreams certificate set"},
		},
		"a name that it doesn't know": {
			byName(bareTLS(unknown)), checkedBy(authority, false, ""), "tls",
			[]string{"doesn't recognize the name localhost"},
		},
		"https to http": {
			swap(serverWith(t, nil, http.NotFound, nil)), snapshot.Upstream{}, "tls",
			[]string{"doesn't use TLS", "Change the target to http://127.0.0.1:"},
		},
		"http to https": {
			swap(tlsServer(secure)), snapshot.Upstream{}, "answer",
			[]string{"uses TLS on that port", "Change the target to https://127.0.0.1:"},
		},
		"only HTTP/2 over TLS": {
			bareTLS(onlyHTTP2), checkedBy(authority, false, "api.internal"), "answer",
			[]string{"gRPC or HTTP/2-only", "Set http to 2 (--http 2)"},
		},
		"only HTTP/2 in the handshake": {
			bareTLS(refusing), checkedBy(authority, false, "api.internal"), "tls",
			[]string{"gRPC or HTTP/2-only", "Set http to 2 (--http 2)"},
		},
		"only HTTP/2": {
			serverWith(t, nil, http.NotFound, &prior), snapshot.Upstream{}, "answer",
			[]string{"gRPC or HTTP/2-only", "Set http to 2 (--http 2)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := newRig(t, nil, withTarget(tc.target), withUpstreams(tc.set, tc.set)).check("env_prod")
			for _, says := range tc.says {
				reports.WantStep(t, got, tc.step, diagnosis.Fail, says)
			}
		})
	}
}

// A server such as nginx finishes the handshake without the certificate that it requires, and then answers 400.
func TestCheckTarget_certificateRequest(t *testing.T) {
	secure, authority := secureWith(t, time.Now().Add(time.Hour), "localhost")
	secure.ClientAuth = tls.RequestClientCert
	target := serverWith(t, secure, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, nil)
	set := checkedBy(authority, false, "")
	got := newRig(t, nil, withTarget(target), withUpstreams(set, set)).check("env_prod")
	reports.WantStep(t, got, "answer", diagnosis.Warn, "requested a client certificate")
}

func fingerprint(certificate string) string {
	block, _ := pem.Decode([]byte(certificate))
	sum := sha256.Sum256(block.Bytes)
	return hex.EncodeToString(sum[:])
}

// The certificate that a check offers is one that makes the check pass.
func TestCheckTarget_offeredAuthority(t *testing.T) {
	up := newPrivate(t, "localhost")
	target := strings.Replace(up.URL, "127.0.0.1", "localhost", 1)
	offer := newRig(t, nil, withTarget(target)).check("env_prod").Target.CA
	if offer == nil || offer.Subject != "CN=localhost" || offer.SHA256 != fingerprint(up.pem) || offer.PEM != up.pem {
		t.Fatalf("offered %+v", offer)
	}
	set := checkedBy(offer.PEM, false, "")
	got := newRig(t, nil, withTarget(target), withUpstreams(set, set)).check("env_prod")
	reports.WantStep(t, got, "tls", diagnosis.Warn, "The certificate is valid until") // tomorrow
	if got.Target.CA != nil {
		t.Errorf("offered %+v although all is well", got.Target.CA)
	}
}

// A check says which of the timeouts ended it.
func TestCheckTarget_timeouts(t *testing.T) {
	silent := rawUpstream(t, func(_ net.Conn, from *bufio.Reader) { _, _ = io.Copy(io.Discard, from) })
	stuck := func(_ *rig, o *gateway.Options) {
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	soonest := func(edit func(*snapshot.UpstreamTimeouts, *int)) rigOption {
		ms := 10 * soon // long enough to connect
		return allNever(func(t *snapshot.UpstreamTimeouts) { edit(t, &ms) })
	}
	connect := soonest(func(t *snapshot.UpstreamTimeouts, ms *int) { t.ConnectMS = ms })
	response := soonest(func(t *snapshot.UpstreamTimeouts, ms *int) { t.ResponseMS = ms })
	for name, tc := range map[string]struct {
		target     string
		options    []rigOption
		step, says string
	}{
		"connecting": {silent, []rigOption{connect, stuck}, "connect", "raise connect_ms (--connect-timeout)"},
		"the TLS handshake": {
			strings.Replace(silent, "http:", "https:", 1), []rigOption{connect}, "tls", "the TLS handshake took",
		},
		"the response": {silent, []rigOption{response}, "answer", "raise response_ms (--response-timeout)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := newRig(t, nil, append(tc.options, withTarget(tc.target))...).check("env_prod")
			reports.WantStep(t, got, tc.step, diagnosis.Fail, tc.says)
		})
	}
}
