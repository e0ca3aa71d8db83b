package movein

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"postern/core/contract"
	"postern/core/movein"
	"postern/models"
	"postern/platform/egress"
)

// Bounds on the tests of targets.
const (
	testsAtOnce = 16 // of a plan
	testWithin  = 2 * time.Second
	testsWithin = 15 * time.Second // all of a plan
	mostTested  = contract.MostPlannedItems
	keepTests   = 30 * time.Second
	mostChain   = 10      // certificates of a target that are read
	mostOffered = 8 << 10 // bytes of one that is offered
)

// tested is the result of testing a target.
type tested struct {
	contract.ImportTarget
	target movein.Target
	needs  contract.Upstream // what makes its certificate accepted, if it is unverified and has CA
	at     time.Time         // zero if it wasn't tested
}

// tests keeps the results of each plan's last tests, because a plan is made again for each choice.
type tests struct {
	mu    sync.Mutex
	plans map[string]*planTests
}

type planTests struct {
	turn chan struct{} // held by one at a time
	used time.Time

	found map[movein.Target]tested // of the one with the turn
}

// of returns the tests of a plan, and forgets those that are old.
func (t *tests) of(id string) *planTests {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plans == nil {
		t.plans = map[string]*planTests{}
	}
	now := models.Now()
	for other, one := range t.plans {
		if now.Sub(one.used) > keepTests {
			delete(t.plans, other)
		}
	}
	one := t.plans[id]
	if one == nil {
		one = &planTests{turn: make(chan struct{}, 1), found: map[movein.Target]tested{}}
		t.plans[id] = one
	}
	one.used = now
	return one
}

// test connects to the targets of a plan, and returns the results. It only sends the beginning of a TLS handshake.
func (s *Plans) test(ctx context.Context, id string, plan *movein.Plan) []tested {
	if s.Dial == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, testsWithin)
	defer stop()
	targets := plan.Targets()
	out := make([]tested, len(targets))
	for i, target := range targets {
		out[i] = tested{target: target, ImportTarget: contract.ImportTarget{
			Address: target.Address, State: contract.TargetNotTested,
			Detail: "Not all targets could be tested in time. Open the plan again to test more of them.",
		}}
	}
	own := s.tests.of(id)
	select {
	case own.turn <- struct{}{}:
		defer func() { <-own.turn }()
	case <-ctx.Done():
		return out
	}
	testing := make(chan struct{}, testsAtOnce)
	var all sync.WaitGroup
	for i := range out[:min(len(out), mostTested)] {
		if had := own.found[targets[i]]; models.Now().Sub(had.at) < keepTests {
			out[i] = had
			continue
		}
		testing <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-testing }()
			if one := s.testOne(ctx, targets[i]); ctx.Err() == nil || one.State == contract.TargetOK {
				out[i] = one
			}
		})
	}
	all.Wait()
	own.found = map[movein.Target]tested{}
	for i := range out {
		if !out[i].at.IsZero() {
			own.found[targets[i]] = out[i]
		}
	}
	return out
}

// testOne connects to a target as the gateway would.
func (s *Plans) testOne(ctx context.Context, target movein.Target) tested {
	ctx, stop := context.WithTimeout(ctx, testWithin)
	defer stop()
	out := tested{target: target, at: models.Now()}
	out.Address, out.State = target.Address, contract.TargetOK
	fail := func(state contract.TargetState, err error) tested {
		out.State, out.Detail = state, egress.Reason(err)
		return out
	}
	conn, err := s.Dial(ctx, "tcp", dialed(target))
	if errors.Is(err, egress.ErrForbidden) {
		return fail(contract.TargetNotAllowed, err)
	}
	if err != nil {
		return fail(contract.TargetUnreachable, err)
	}
	defer conn.Close()
	if !strings.HasPrefix(target.Address, "https:") {
		return out
	}
	own, roots, err := rootsOf(target)
	if err != nil {
		return fail(contract.TargetUnverified, err)
	}
	secured := tls.Client(conn, &tls.Config{
		ServerName: cmp.Or(target.ServerName, target.Host()), RootCAs: roots, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
	})
	err = secured.HandshakeContext(ctx)
	if failed, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		chain := failed.UnverifiedCertificates
		out.offer(chain[:min(len(chain), mostChain)], roots)
		return fail(contract.TargetUnverified, err)
	}
	if err != nil {
		return fail(contract.TargetUnreachable, err)
	}
	out.trust(secured.ConnectionState(), own)
	return out
}

// dialed returns the host and port of a target.
func dialed(target movein.Target) string {
	u, err := url.Parse(target.Address)
	if err != nil {
		return target.Address
	}
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(port, "80"))
}

// rootsOf returns the authorities of a target's certificate as the gateway has them: its own ones and all, nil for
// those of the machine.
func rootsOf(target movein.Target) (own []*x509.Certificate, roots *x509.CertPool, err error) {
	if own, err = (contract.UpstreamCA{PEM: &target.CA}).Certificates(); err != nil || len(own) == 0 {
		return nil, nil, err
	}
	roots = x509.NewCertPool()
	if !target.OnlyCA {
		if roots, err = x509.SystemCertPool(); err != nil {
			return nil, nil, err
		}
	}
	for _, one := range own {
		roots.AddCert(one)
	}
	return own, roots, nil
}

// offer finds what would make a chain accepted: another server name, or the certificate nearest to its root that
// verifies it, which can be the server's own.
func (t *tested) offer(chain []*x509.Certificate, roots *x509.CertPool) {
	if len(chain) == 0 {
		return
	}
	own := cmp.Or(t.target.ServerName, t.target.Host())
	for _, name := range namesOf(chain[0], own) {
		if name != own {
			t.needs.ServerName = &name
			if isVerified(chain, name, roots) {
				t.CA = described(chain[0])
				return
			}
		}
		for _, root := range slices.Backward(chain) {
			only := x509.NewCertPool()
			only.AddCert(root)
			if len(root.Raw) <= mostOffered && isVerified(chain, name, only) {
				t.CA = described(root)
				t.needs.CA.PEM = &t.CA.PEM
				return
			}
		}
	}
	t.needs = contract.Upstream{}
}

func isVerified(chain []*x509.Certificate, name string, roots *x509.CertPool) bool {
	between := x509.NewCertPool()
	for _, one := range chain[1:] {
		between.AddCert(one)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: between})
	return err == nil
}

// mostNames is how many names of a certificate are tried.
const mostNames = 5

// namesOf returns the names that a certificate may be valid for: the target's, and those of the certificate that can be
// a server name.
func namesOf(one *x509.Certificate, own string) []string {
	names := []string{own}
	for _, name := range one.DNSNames[:min(len(one.DNSNames), mostNames)] {
		if _, err := egress.ParseTarget("https://" + name); err == nil {
			names = append(names, strings.ToLower(name))
		}
	}
	for _, address := range one.IPAddresses[:min(len(one.IPAddresses), mostNames)] {
		names = append(names, address.String())
	}
	return names
}

// trust says which certificate a trusted target is accepted by.
func (t *tested) trust(state tls.ConnectionState, own []*x509.Certificate) {
	if !t.target.Trusted {
		return
	}
	chain := state.VerifiedChains[0]
	root := chain[len(chain)-1]
	switch {
	case slices.ContainsFunc(own, root.Equal):
		t.CA = described(root)
	case t.target.ServerName != "":
		t.CA = described(chain[0])
	}
	t.Trusted = t.CA != nil
}

func described(one *x509.Certificate) *contract.OfferedCA {
	sum := sha256.Sum256(one.Raw)
	return &contract.OfferedCA{
		Subject: one.Subject.String(), SHA256: hex.EncodeToString(sum[:]), ExpiresAt: one.NotAfter.UTC(),
		PEM: contract.EncodeCertificates([]*x509.Certificate{one}),
	}
}

// keep keeps what trusted targets need in a row, and returns false if that is nothing new.
func keep(row *models.ImportPlan, all []tested) bool {
	isNew := false
	for i := range all {
		one := &all[i]
		if !one.target.Trusted || one.State != contract.TargetOK && one.CA == nil {
			continue
		}
		had, known := row.Trusted[one.Address]
		if known && (had.CA.IsSet() || had.ServerName != nil || one.CA == nil) {
			continue
		}
		row.Trusted[one.Address], isNew = one.needs, true
	}
	return isNew
}

// withTargets adds to a plan what tests of its targets have found.
func withTargets(out contract.PlannedImport, all []tested) contract.PlannedImport {
	out.TargetCount = int64(len(all))
	for i := range all[:min(len(all), mostTested)] {
		out.Targets = append(out.Targets, all[i].ImportTarget)
	}
	return out
}
