package certificates_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/certificates"
	"postern/testkit"
	"postern/testkit/servers"
	"postern/testkit/state"
)

// rig is an ACME server, and a listener that it checks names at.
type rig struct {
	t        *testing.T
	db       *models.DB
	vault    *secrets.Vault
	names    *servers.NameServer
	acme     *servers.Pebble
	listener net.Listener
	answers  atomic.Pointer[certificates.Service] // whose challenges the listener presents
	orders   atomic.Int64                         // that the ACME server has accepted
	replicas []*replica
}

func newRig(t *testing.T, db *models.DB, lifetime time.Duration) *rig {
	t.Helper()
	r := &rig{t: t, db: db, names: servers.StartNameServer(t)}
	var err error
	r.vault, err = secrets.NewVault(wholeKey)
	if err != nil {
		t.Fatal(err)
	}
	r.listener, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		NextProtos: []string{"http/1.1", "acme-tls/1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return r.answers.Load().Challenge(hello)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.listener.Close() })
	go r.accept()
	r.acme = servers.StartPebble(t, servers.PebbleOptions{
		TLSPort:    r.listener.Addr().(*net.TCPAddr).Port,
		NameServer: r.names.Addr,
		Lifetime:   lifetime,
	})
	return r
}

func (r *rig) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}()
	}
}

// replica is a process with a service, which serves hosts.
type replica struct {
	*certificates.Service
	log bytes.Buffer

	mu      sync.Mutex
	hosts   []string
	reports []string // what happened to attempts
}

// report notes a report. An attempt of the database may be repeated, and its report with it.
func (r *replica) report(_ *models.Tx, host, what, problem string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if problem != "" {
		problem = ": a problem"
	}
	r.reports = append(r.reports, host+" "+what+problem)
	return nil
}

func (r *replica) reported(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.reports, what)
}

func (r *replica) serve(hosts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = hosts
}

func (r *replica) served() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.hosts)
}

// replica creates a service that orders certificates for hosts.
func (r *rig) replica(hosts ...string) *replica {
	one := &replica{hosts: hosts}
	counting := http.Client{Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
		answer, err := r.acme.Client.Transport.RoundTrip(request)
		// Pebble's address for new orders. It rejects some nonces, after which a request is repeated.
		if err == nil && strings.Contains(request.URL.Path, "order-plz") && answer.StatusCode == http.StatusCreated {
			r.orders.Add(1)
		}
		return answer, err
	})}
	one.Service = &certificates.Service{
		DB:        r.db,
		Vault:     r.vault,
		Directory: r.acme.Directory,
		Email:     "ops@shop.test",
		Client:    &counting,
		Hosts:     one.served,
		Serves:    func(host string) bool { return slices.Contains(one.served(), host) },
		Covered:   func(string) bool { return false },
		Report:    one.report,
		Log:       slog.New(slog.NewTextHandler(io.MultiWriter(r.t.Output(), &one.log), nil)),
	}
	r.answers.Store(one.Service)
	r.replicas = append(r.replicas, one)
	return one
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// run runs the service until stop is called.
func run(t *testing.T, one *replica) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		one.Run(ctx)
		close(ended)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
	})
	t.Cleanup(stop)
	return stop
}

// presents returns the certificate for a host name, nil for none.
func presents(one *replica, host string) *tls.Certificate {
	found, err := one.Certificate(&tls.ClientHelloInfo{ServerName: host, SupportedProtos: []string{"h2"}})
	if err != nil {
		return nil
	}
	return found
}

// trusted checks that a client which trusts the ACME server's root accepts a certificate.
func (r *rig) trusted(cert *tls.Certificate, host string) {
	r.t.Helper()
	intermediates := x509.NewCertPool()
	for _, der := range cert.Certificate[1:] {
		parsed, err := x509.ParseCertificate(der)
		if err != nil {
			r.t.Fatal(err)
		}
		intermediates.AddCert(parsed)
	}
	_, err := cert.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: r.acme.Issued, Intermediates: intermediates})
	if err != nil {
		r.t.Errorf("the certificate of %s is not trusted: %v", host, err)
	}
}

func (r *rig) row(host string) models.Certificate {
	r.t.Helper()
	rows, err := r.db.Read(r.t.Context()).CertificatesOf([]string{host})
	if err != nil || len(rows) > 1 {
		r.t.Fatalf("%d rows of %s, %v", len(rows), host, err)
	}
	if len(rows) == 0 {
		return models.Certificate{}
	}
	return rows[0]
}

func TestService_obtain(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRig(t, db, 24*time.Hour)
		r.names.Point("api.shop.test")
		one := r.replica("api.shop.test")
		stop := run(t, one)
		testkit.Eventually(t, "a certificate", func() bool { return presents(one, "API.shop.test") != nil })
		got := presents(one, "api.shop.test")
		r.trusted(got, "api.shop.test")
		if presents(one, "other.test") != nil {
			t.Error("another name gets it too")
		}
		one.serve()
		if presents(one, "api.shop.test") != nil {
			t.Error("a name that is not served any more still gets it")
		}
		stop()

		stored := r.row("api.shop.test")
		for how, trace := range testkit.KeyTraces(t, got.PrivateKey) {
			if strings.Contains(string(stored.PrivateKey)+stored.Chain+stored.Problem, trace) {
				t.Errorf("the private key is in its row, %s", how)
			}
			if strings.Contains(one.log.String(), trace) {
				t.Errorf("the private key is in the log, %s", how)
			}
		}
		if !r.gatewayCanUnseal(stored) {
			t.Error("the gateway key does not open the private key")
		}
		if stored.Holder != "" || stored.Challenge != "" || stored.Problem != "" {
			t.Errorf("the row still has the order: %+v", stored)
		}
		lifetime := got.Leaf.NotAfter.Sub(got.Leaf.NotBefore)
		earliest, latest := got.Leaf.NotAfter.Add(-lifetime*2/5), got.Leaf.NotAfter.Add(-lifetime/3)
		if stored.DueAt.Before(earliest) || stored.DueAt.After(latest) {
			t.Errorf("it is renewed at %s, want between %s and %s", stored.DueAt, earliest, latest)
		}

		second := r.replica("api.shop.test")
		second.Client = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("the ACME server is asked again")
		})}
		run(t, second)
		testkit.Eventually(t, "the certificate after a restart", func() bool {
			return presents(second, "api.shop.test") != nil
		})
		if again := presents(second, "api.shop.test"); !bytes.Equal(again.Certificate[0], got.Certificate[0]) {
			t.Error("after a restart there is another certificate")
		}
		r.orderedOnce("api.shop.test")
	})
}

// The ACME server's check reaches a replica that does not obtain the certificate itself.
func TestService_challengeOfOtherReplica(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRig(t, db, 24*time.Hour)
		r.names.Point("api.shop.test")
		orders := r.replica("api.shop.test")
		orders.Settle = 2*certificates.LookEvery + time.Second
		answers := r.replica() // serves the name later
		run(t, answers)
		run(t, orders)
		testkit.Eventually(t, "a certificate", func() bool { return presents(orders, "api.shop.test") != nil })
		answers.serve("api.shop.test")
		testkit.Eventually(t, "it at the other replica", func() bool {
			return presents(answers, "api.shop.test") != nil
		})
		r.orderedOnce("api.shop.test")
	})
}

func TestService_oneOrder(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRig(t, db, 24*time.Hour)
		r.names.Point("api.shop.test")
		replicas := []*replica{r.replica("api.shop.test"), r.replica("api.shop.test"), r.replica("api.shop.test")}
		for _, one := range replicas {
			one.Settle = 2*certificates.LookEvery + time.Second
			run(t, one)
		}
		for _, one := range replicas {
			testkit.Eventually(t, "a certificate", func() bool { return presents(one, "api.shop.test") != nil })
		}
		r.orderedOnce("api.shop.test")
	})
}

func TestService_renew(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRig(t, db, 15*time.Second)
		r.names.Point("api.shop.test")
		one := r.replica("api.shop.test")
		run(t, one)
		testkit.Eventually(t, "a certificate", func() bool { return presents(one, "api.shop.test") != nil })
		first := presents(one, "api.shop.test").Leaf.SerialNumber
		testkit.Eventually(t, "another one", func() bool {
			return presents(one, "api.shop.test").Leaf.SerialNumber.Cmp(first) != 0
		})
		r.trusted(presents(one, "api.shop.test"), "api.shop.test")
		if !one.reported("api.shop.test certificate renewed") {
			t.Errorf("the renewal is not reported; there are %q", one.reports)
		}
	})
}

// A name whose DNS record leads to another place must not use up the limits of the ACME
// server, and other names are not affected.
func TestService_backoff(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRig(t, db, 24*time.Hour)
		r.names.Point("api.shop.test")
		one := r.replica("missing.shop.test", "api.shop.test")
		run(t, one)
		testkit.Eventually(t, "the failure", func() bool { return r.row("missing.shop.test").Failures == 1 })
		testkit.Eventually(t, "the other name's certificate", func() bool {
			return presents(one, "api.shop.test") != nil
		})
		row := r.row("missing.shop.test")
		if row.Problem == "" || row.Chain != "" || row.Holder != "" {
			t.Errorf("the row is %+v, want a problem and no certificate", row)
		}
		if wait := row.DueAt.Sub(row.UpdatedAt); wait < 50*time.Second {
			t.Errorf("the next attempt is %s later", wait)
		}
		if n := r.orders.Load(); n != 2 {
			t.Errorf("%d orders, want one of each name", n)
		}
		if presents(one, "missing.shop.test") != nil {
			t.Error("the name has a certificate")
		}
		for _, want := range []string{
			"missing.shop.test certificate failed: a problem", "api.shop.test certificate obtained",
		} {
			if !one.reported(want) {
				t.Errorf("%q is not reported; there are %q", want, one.reports)
			}
		}
	})
}

func TestService_namesWithFiles(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRig(t, db, 24*time.Hour)
		r.names.Point("api.shop.test")
		r.names.Point("file.shop.test")
		one := r.replica("file.shop.test", "api.shop.test")
		one.Covered = func(host string) bool { return host == "file.shop.test" }
		run(t, one)
		testkit.Eventually(t, "the other name's certificate", func() bool {
			return presents(one, "api.shop.test") != nil
		})
		if row := r.row("file.shop.test"); row.Host != "" || r.orders.Load() != 1 {
			t.Errorf("it was ordered: %+v", row)
		}
	})
}

func TestChallenge_acmeServersOnly(t *testing.T) {
	r := &replica{Service: &certificates.Service{}}
	for _, offers := range [][]string{nil, {"h2"}, {"h2", "acme-tls/1"}} {
		got, err := r.Challenge(&tls.ClientHelloInfo{ServerName: "api.shop.test", SupportedProtos: offers})
		if got != nil || err != nil {
			t.Errorf("a caller that offers %v gets %v, %v", offers, got, err)
		}
	}
	got, err := r.Challenge(&tls.ClientHelloInfo{ServerName: "api.shop.test", SupportedProtos: []string{"acme-tls/1"}})
	if got != nil || err == nil {
		t.Errorf("a check without an order gets %v, %v; want an error", got, err)
	}
}
