package movein_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/service/movein"
	"postern/testkit"
	"postern/testkit/state"
)

// guarded dials loopback addresses, and no other private ones.
func guarded(t *testing.T) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	return guard.DialContext
}

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// issue issues a certificate and its key; without an authority it is self-signed.
func (a *authority) issue(t *testing.T, template x509.Certificate) (*authority, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	template.SerialNumber, template.NotBefore = big.NewInt(time.Now().UnixNano()), time.Now().Add(-2*time.Hour)
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if template.IsCA {
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	parent, signer := &template, key
	if a != nil {
		parent, signer = a.certificate, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	one, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	chain := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	if a != nil {
		chain.Certificate = append(chain.Certificate, a.certificate.Raw)
	}
	return &authority{one, key}, chain
}

func named(name string) pkix.Name { return pkix.Name{CommonName: name} }

var loopback = []net.IP{net.IPv4(127, 0, 0, 1)}

// secureServer is an upstream with TLS, whose certificate can be replaced.
func secureServer(t *testing.T, upstream *testkit.Upstream, first tls.Certificate) (
	address string, present *atomic.Pointer[tls.Certificate],
) {
	t.Helper()
	present = &atomic.Pointer[tls.Certificate]{}
	present.Store(&first)
	server := httptest.NewUnstartedServer(upstream)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes
	server.TLS = &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return &tls.Config{Certificates: []tls.Certificate{*present.Load()}}, nil
		},
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, present
}

// listener accepts connections and answers nothing, unless it is closed.
func listener(t *testing.T) (address string, closes func()) {
	t.Helper()
	door, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = door.Close() })
	return door.Addr().String(), func() { _ = door.Close() }
}

// services is a file with an open service for each target.
func services(targets ...string) string {
	out := strings.Builder{}
	out.WriteString("_format_version: '3.0'\nservices:\n")
	for i, target := range targets {
		fmt.Fprintf(&out, "- {name: s%d, url: %q, routes: [{name: r%d, hosts: [h%d.example.com], paths: [/]}]}\n", i,
			target, i, i)
	}
	return out.String()
}

func (f *fixture) createFrom(t *testing.T, text string) contract.PlannedImport {
	t.Helper()
	out, err := f.Create(t.Context(), f.owner, contract.NewImport{}, one(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Each target is connected to, and nothing is sent to it.
func TestPlans_targets(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.Dial = guarded(t)
		upstream := testkit.NewUpstream(t)
		_, own := (*authority)(nil).issue(t, x509.Certificate{Subject: named("own"), IPAddresses: loopback})
		secure, _ := secureServer(t, upstream, own)
		silent, _ := listener(t)
		refusing, closes := listener(t)
		closes()
		plain := "https" + strings.TrimPrefix(upstream.URL, "http")
		want := []struct {
			target string
			state  contract.TargetState
			detail string
		}{
			{upstream.URL, contract.TargetOK, ""},
			{secure, contract.TargetUnverified, "from an authority that isn't trusted"},
			{plain, contract.TargetUnreachable, "doesn't use TLS on that port"},
			{"http://" + refusing, contract.TargetUnreachable, "refuses connections"},
			{"https://" + silent, contract.TargetUnreachable, "didn't respond in time"},
			{"http://10.0.0.1", contract.TargetNotAllowed, "POSTERN_EGRESS_ALLOW"},
		}
		var targets []string
		for _, one := range want {
			targets = append(targets, one.target+"/base", one.target+"/other") // tested once
		}
		p := f.createFrom(t, services(targets...))
		if len(p.Targets) != len(want) || p.TargetCount != int64(len(want)) {
			t.Fatalf("%d targets: %+v", p.TargetCount, p.Targets)
		}
		for i, one := range want {
			got := p.Targets[i]
			if got.Address != one.target || got.State != one.state || !strings.Contains(got.Detail, one.detail) ||
				got.Trusted || (got.Detail == "") != (one.state == contract.TargetOK) {
				t.Errorf("%s: %+v", one.target, got)
			}
			if offered := got.TrustHost() == "127.0.0.1"; offered != (one.target == secure) {
				t.Errorf("%s: its certificate is offered: %t", one.target, offered)
			}
		}
		sum := sha256.Sum256(own.Certificate[0])
		if ca := p.Targets[1].CA; ca.SHA256 != fmt.Sprintf("%x", sum) || ca.Subject != "CN=own" {
			t.Errorf("the offered certificate is %+v", ca)
		}
		if n := len(upstream.Requests()); n > 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// A trusted host's certificate is taken in the form that verifies the target, if there is one.
func TestPlans_trusted(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.Dial = guarded(t)
		upstream := testkit.NewUpstream(t)
		root, _ := (*authority)(nil).issue(t, x509.Certificate{Subject: named("root"), IsCA: true})
		_, issued := root.issue(t, x509.Certificate{Subject: named("leaf"), IPAddresses: loopback})
		_, bare := root.issue(t, x509.Certificate{Subject: named("bare"), IPAddresses: loopback})
		bare.Certificate = bare.Certificate[:1]
		self := func(template x509.Certificate) tls.Certificate {
			_, one := (*authority)(nil).issue(t, template)
			return one
		}
		var targets []string
		want := []struct {
			certificate tls.Certificate
			subject     string // of what is taken, "" for nothing
			name        string
			code        string
		}{
			{issued, "CN=root", "", "service.trusted"},
			{bare, "CN=bare", "", "service.trusted"},
			{self(x509.Certificate{Subject: named("own"), IPAddresses: loopback}), "CN=own", "", "service.trusted"},
			{
				self(x509.Certificate{Subject: named("other"), DNSNames: []string{"*.x", "Orders.internal"}}),
				"CN=other", "orders.internal", "service.trusted",
			},
			{self(x509.Certificate{Subject: named("nameless")}), "", "", "service.not_taken"},
			{
				self(x509.Certificate{
					Subject: named("old"), IPAddresses: loopback, NotAfter: time.Now().Add(-time.Hour),
				}), "", "", "service.not_taken",
			},
		}
		for _, one := range want {
			target, _ := secureServer(t, upstream, one.certificate)
			targets = append(targets, target)
		}
		p := f.createFrom(t, services(targets...))
		for i, one := range want {
			if got := p.Targets[i]; got.State != contract.TargetUnverified || (got.CA != nil) != (one.subject != "") {
				t.Errorf("%s: %+v", one.subject, got)
			}
		}
		p, err := f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
			ImportPath: path(p), Body: contract.ImportPlanChange{Trust: &[]string{"127.0.0.1"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, one := range want {
			got, u := p.Targets[i], p.Projects[i].Versions[0].Environment.Upstream
			item := p.Items[slices.IndexFunc(p.Items, func(item contract.ImportItem) bool {
				return item.Pointer == p.Projects[i].From
			})]
			if !slices.Equal(item.Codes, []string{one.code}) {
				t.Errorf("%d: the item is %+v", i, item)
			}
			if one.subject == "" {
				if got.State != contract.TargetUnverified || got.Trusted || u.CA.IsSet() || u.ServerName != nil {
					t.Errorf("%d: %+v, %+v", i, got, u)
				}
				continue
			}
			if got.State != contract.TargetOK || !got.Trusted || got.CA == nil || got.CA.Subject != one.subject ||
				u.CA.PEM == nil || *u.CA.PEM != got.CA.PEM || one.name == "" != (u.ServerName == nil) ||
				u.ServerName != nil && *u.ServerName != one.name {
				t.Errorf("%d: %+v, %+v", i, got, u)
			}
		}
		if counts := p.Summary.Total(); counts != int64(len(p.Items)) {
			t.Errorf("%d items are counted as %d", len(p.Items), counts)
		}
		// Other choices keep what was taken, and without trust nothing is.
		p, err = f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
			ImportPath: path(p), Body: contract.ImportPlanChange{Theirs: new(true)},
		})
		if err != nil || !p.Targets[0].Trusted || !p.Projects[0].Versions[0].Environment.Upstream.CA.IsSet() {
			t.Errorf("after another choice: %+v, %v", p.Targets[0], err)
		}
		p, err = f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
			ImportPath: path(p), Body: contract.ImportPlanChange{Trust: &[]string{}},
		})
		if err != nil || p.Targets[0].State != contract.TargetUnverified || p.Targets[0].Trusted ||
			p.Projects[0].Versions[0].Environment.Upstream.CA.IsSet() {
			t.Errorf("without trust: %+v, %v", p.Targets[0], err)
		}
	})
}

// When the time for all tests is up, the plan says which targets weren't tested.
func TestPlans_untested(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var targets []string
		for i := range 40 {
			targets = append(targets, fmt.Sprintf("http://t%d.example.net", i))
		}
		ctx, ends := context.WithCancel(t.Context())
		defer ends()
		p := f.createFrom(t, services(targets...))
		var running, most, started atomic.Int64
		f.Dial = func(ctx context.Context, _, address string) (net.Conn, error) {
			defer running.Add(-1)
			most.Store(max(most.Load(), running.Add(1)))
			if address == "t0.example.net:80" {
				here, there := net.Pipe()
				_ = there.Close()
				return here, nil
			}
			n := started.Add(1)
			if n == 20 { // five have failed, and the others wait
				ends()
			}
			if n > 5 {
				<-ctx.Done()
			}
			return nil, &net.DNSError{Name: address, IsNotFound: true}
		}
		got, err := f.Get(ctx, f.owner, path(p))
		if err != nil {
			t.Fatal(err)
		}
		states := map[contract.TargetState]int{}
		for _, one := range got.Targets {
			states[one.State]++
		}
		if len(got.Targets) != 40 || states[contract.TargetOK] != 1 || states[contract.TargetUnreachable] < 4 ||
			states[contract.TargetNotTested] != 39-states[contract.TargetUnreachable] || most.Load() > 16 {
			t.Errorf("%v, %d at once", states, most.Load())
		}
	})
}

// Calls reach a target with TLS once its certificate is trusted, and what is trusted is what the plan has shown.
func TestPlans_trustServes(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		own := func(name string) tls.Certificate {
			_, one := (*authority)(nil).issue(t, x509.Certificate{Subject: named(name), IPAddresses: loopback})
			return one
		}
		shown, other := own("shown"), own("other")
		secure, present := secureServer(t, w.upstream, shown)
		plans := func() *movein.Plans { // of a process that has tested nothing yet
			return &movein.Plans{
				DB: db, Vault: w.Projects.Vault, CheckHost: w.Domains.CheckHost, Writer: w.Service, Dial: guarded(t),
			}
		}
		create := func(change contract.ImportPlanChange) contract.PlannedImport {
			t.Helper()
			p, err := plans().Create(t.Context(), w.owner, contract.NewImport{},
				one(strings.ReplaceAll(file, "UPSTREAM", secure)))
			if err != nil {
				t.Fatal(err)
			}
			p, err = plans().Update(t.Context(), w.owner, contract.ImportPlanUpdate{ImportPath: path(p), Body: change})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		apply := func(p contract.PlannedImport) {
			t.Helper()
			_, err := plans().Apply(t.Context(), w.owner, contract.ImportApplication{
				ImportPath: path(p), Condition: contract.Condition{IfMatch: p.ETag},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		call := func(want int) {
			t.Helper()
			if got := w.call(t, "GET", "api.example.com", "/invoices/7", bobKey); got != want {
				t.Errorf("a call gets %d, want %d", got, want)
			}
		}
		apply(create(contract.ImportPlanChange{}))
		w.approve(t, "orders", "api.example.com")
		call(502)
		p := create(contract.ImportPlanChange{Trust: &[]string{"127.0.0.1"}})
		if len(p.Targets) != 1 || !p.Targets[0].Trusted || p.Targets[0].CA.Subject != "CN=shown" {
			t.Fatalf("the plan has %+v", p.Targets)
		}
		// The target gets another certificate, which isn't taken without notice.
		present.Store(&other)
		seen, err := plans().Get(t.Context(), w.owner, path(p))
		if err != nil || seen.ETag != p.ETag || seen.Targets[0].Trusted || seen.Targets[0].CA.Subject != "CN=other" ||
			seen.Targets[0].State != contract.TargetUnverified {
			t.Errorf("with another certificate, the plan has %+v, %v", seen.Targets, err)
		}
		apply(p)
		call(502)
		present.Store(&shown)
		call(200)
	})
}
