// Package certificates obtains certificates for custom host names from an ACME server, renews
// them, and has them for the gateway's handshakes.
//
// It owns the account at the ACME server, orders, challenges, renewals, and what several
// replicas share of them in the database. It leaves the proof that a team controls a name
// to service/domains: only names that the gateway serves are ordered. Certificates in files
// are those of platform/certs.
//
// It uses golang.org/x/crypto/acme without autocert, which orders during handshakes, renews
// names that are not served any more, and has no lock that replicas share. certmagic has such a
// lock, and renews when the server says (RFC 9773). But it keeps its listeners in a variable of
// its package, starts its own listener for each challenge, and looks for challenges of other
// replicas in its storage during handshakes. Here, handshakes read only memory.
//
// Standards: ACME (RFC 8555), challenge tls-alpn-01 (RFC 8737).
package certificates

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"

	"postern/models"
	"postern/platform/secrets"
	"postern/platform/traces"
)

const (
	// LookEvery is how often the rows are read and due certificates are obtained.
	LookEvery = 2 * time.Second
	// atOnce is how many certificates a replica obtains at once.
	atOnce = 4
	// pruneEvery is how often certificates of names that are gone are deleted.
	pruneEvery = time.Hour
)

// Service obtains certificates. Its fields are set before Run.
type Service struct {
	DB        *models.DB
	Vault     *secrets.Vault
	Directory string       // URL of the ACME server's directory
	Email     string       // of the account, "" for none
	Client    *http.Client // to the ACME server

	Hosts   func() []string        // custom host names that are served now
	Serves  func(host string) bool // whether one is served
	Covered func(host string) bool // whether a name has a certificate already, in a file

	// Settle is the time for all replicas to read a challenge before it is begun. 0 where
	// this process alone serves.
	Settle time.Duration
	Log    *slog.Logger
	Traces *traces.Tracer // records attempts to obtain a certificate; nil: none

	// ReadOnly reads certificates and answers challenges. Another process obtains them.
	ReadOnly bool

	// Report records what happened to an attempt, in the transaction that writes it: the first failure after a success,
	// and every success. problem is "" for those. nil: nothing is recorded.
	Report func(tx *models.Tx, host, what, problem string) error

	read    atomic.Pointer[view]
	running running
	account account
	pruned  time.Time
}

// view is the state of the database when it was last read.
type view struct {
	rows map[string]row
}

type row struct {
	mark      time.Time
	directory string
	dueAt     time.Time
	heldUntil time.Time        // another replica may be obtaining it until then
	problem   string           // why it cannot be used, so that it is logged once
	inUse     *tls.Certificate // nil: none
	challenge *tls.Certificate // nil: none is under way
}

// running are the host names whose certificates this process is obtaining.
type running struct {
	mu    sync.Mutex
	hosts map[string]*tls.Certificate // the challenge, nil until it begins
	slots chan struct{}
	all   sync.WaitGroup
}

// begin reports whether host is not under way yet and a slot is free. end follows.
func (r *running) begin(host string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil {
		r.hosts, r.slots = map[string]*tls.Certificate{}, make(chan struct{}, atOnce)
	}
	if _, busy := r.hosts[host]; busy {
		return false
	}
	select {
	case r.slots <- struct{}{}:
		r.hosts[host] = nil
		return true
	default:
		return false
	}
}

func (r *running) end(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.hosts, host)
	<-r.slots
}

func (r *running) present(host string, challenge *tls.Certificate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts[host] = challenge
}

func (r *running) challenge(host string) *tls.Certificate {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts[host]
}

var errNoChallenge = errors.New("certificates: no challenge is under way for this host name")

// Challenge returns the certificate that answers the handshake of an ACME server's check (RFC
// 8737, section 3), nil for any other handshake. It does not use the database.
func (s *Service) Challenge(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if !slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return nil, nil
	}
	host := strings.ToLower(hello.ServerName)
	if found := s.running.challenge(host); found != nil {
		return found, nil
	}
	if v := s.read.Load(); v != nil && v.rows[host].challenge != nil {
		return v.rows[host].challenge, nil
	}
	return nil, errNoChallenge
}

// Certificate returns the certificate of a host name that is served, nil if there is none. It
// does not use the database.
func (s *Service) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	host := strings.ToLower(hello.ServerName)
	if v := s.read.Load(); v != nil && v.rows[host].inUse != nil && s.Serves(host) {
		return v.rows[host].inUse, nil
	}
	return nil, nil
}

// Run reads certificates and, unless ReadOnly, obtains those that are due, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(LookEvery)
	defer ticker.Stop()
	defer s.running.all.Wait()
	for {
		s.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look reads the rows, and begins to obtain what is due. A database that does not answer
// leaves the certificates as they were.
func (s *Service) look(ctx context.Context) {
	if err := s.refresh(ctx); err != nil {
		if ctx.Err() == nil {
			s.Log.Warn("could not read certificates; using the previous ones", "error", err)
		}
		return
	}
	if s.ReadOnly {
		return
	}
	s.prune(ctx) // not while an attempt may just have ended
	for _, host := range s.due(models.Now()) {
		if !s.running.begin(host) {
			continue
		}
		s.running.all.Go(func() {
			defer s.running.end(host)
			s.obtain(ctx, host)
		})
	}
}

// due lists the served names whose certificate is due by this machine's clock. The row
// decides (models.Tx.HoldCertificate).
func (s *Service) due(now time.Time) (hosts []string) {
	rows := s.read.Load().rows
	for _, host := range s.Hosts() {
		known, ok := rows[host]
		wanted := !ok || known.directory != s.Directory || !known.dueAt.After(now)
		if wanted && !known.heldUntil.After(now) && !s.Covered(host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// prune deletes the certificates of names that no project has any more.
func (s *Service) prune(ctx context.Context) {
	if time.Since(s.pruned) < pruneEvery {
		return
	}
	s.pruned = time.Now()
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		_, err := tx.DeleteUnusedCertificates()
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("could not delete certificates of removed host names", "error", err)
	}
}
