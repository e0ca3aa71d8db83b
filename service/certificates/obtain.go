package certificates

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"time"
	"unicode"

	"golang.org/x/crypto/acme"

	"postern/models"
	"postern/platform/secrets"
	"postern/platform/traces"
)

const (
	// holdFor is when another replica may take an attempt over. An attempt takes less.
	holdFor, attemptFor = 6 * time.Minute, 5 * time.Minute
	// releaseWithin bounds writing the outcome, also while the server stops.
	releaseWithin = 5 * time.Second
	// maxProblem is the longest text of an ACME server that is kept, in characters.
	maxProblem = 300
)

// pauses follow an attempt that failed, by how many failed before it. They stay below five
// failed checks of one name in an hour (letsencrypt.org/docs/rate-limits).
var pauses = []time.Duration{
	time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// issued is a certificate with its private key, in PEM.
type issued struct {
	chain string
	key   secrets.Secret
	leaf  *x509.Certificate
}

// obtain obtains a host name's certificate, unless another replica does or it is not due.
func (s *Service) obtain(ctx context.Context, host string) {
	holder := models.NewID("crt")
	var held bool
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		var err error
		held, err = tx.HoldCertificate(host, s.Directory, holder, holdFor)
		return err
	})
	if err != nil || !held {
		if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "could not obtain a certificate", "host", host, "error", err)
		}
		return
	}
	ctx, span := s.Traces.Begin(ctx, traces.Begin{Name: "certificate", Kind: traces.Internal})
	defer span.End()
	attempt, stop := context.WithTimeout(ctx, attemptFor)
	defer stop()
	got, failed := s.order(attempt, host, holder)
	if failed != nil && ctx.Err() != nil {
		failed = errStopped
	}
	if failed != nil {
		span.Fail(traces.ErrorType(failed))
	}
	release, stopRelease := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer stopRelease()
	if err := s.release(release, host, holder, got, failed); err != nil {
		s.Log.ErrorContext(ctx, "could not record an attempt to obtain a certificate", "host", host, "error", err)
		return
	}
	switch {
	case failed == nil:
		s.Log.InfoContext(ctx, "obtained a certificate", "host", host, "ends", got.leaf.NotAfter)
	case !errors.Is(failed, errStopped):
		s.Log.WarnContext(ctx, "could not obtain a certificate; retrying later",
			"host", host, "error", failed)
	}
}

// errStopped is an attempt that ended because the server stops. It does not count.
var errStopped = errors.New("certificates: the server is stopping")

// release writes the outcome.
func (s *Service) release(ctx context.Context, host, holder string, got issued, failed error) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := tx.HeldCertificate(host, holder)
		if err != nil {
			return fmt.Errorf("certificates: the lease of %s was lost: %w", host, err)
		}
		if err := s.conclude(tx, &row, got, failed); err != nil {
			return err
		}
		return tx.ReleaseCertificate(row, holder)
	})
}

// The reported outcomes of attempts.
const (
	reportObtained = "certificate obtained"
	reportRenewed  = "certificate renewed"
	reportFailed   = "certificate failed"
)

// conclude sets the columns of an attempt that has ended, and reports it.
func (s *Service) conclude(tx *models.Tx, row *models.Certificate, got issued, failed error) error {
	now := models.Now()
	switch {
	case errors.Is(failed, errStopped):
		row.DueAt = now
		return nil
	case failed != nil:
		row.DueAt = now.Add(pauseAfter(row.Failures, failed))
		row.Failures++
		row.Problem = explain(failed)
		if row.Failures > 1 {
			return nil
		}
		return s.report(tx, row.Host, reportFailed, row.Problem)
	}
	sealed, err := s.Vault.Seal(tx, sealedFor, PrivateKeyPlace(row.Host), got.key)
	if err != nil {
		return err
	}
	what := reportObtained
	if row.Chain != "" {
		what = reportRenewed
	}
	row.Chain, row.PrivateKey, row.EndsAt = got.chain, sealed, &got.leaf.NotAfter
	row.DueAt, row.Failures, row.Problem = renewAt(got.leaf), 0, ""
	return s.report(tx, row.Host, what, "")
}

func (s *Service) report(tx *models.Tx, host, what, problem string) error {
	if s.Report == nil {
		return nil
	}
	return s.Report(tx, host, what, problem)
}

// pauseAfter returns when an attempt is repeated: as late as the ACME server requests.
func pauseAfter(failures int64, failed error) time.Duration {
	pause := pauses[min(failures, int64(len(pauses)-1))]
	if limited, ok := acme.RateLimit(failed); ok {
		pause = max(pause, limited)
	}
	return pause
}

// renewAt returns when a third of a certificate's lifetime is left, and up to a twentieth
// earlier, so that names that were added together are not all renewed at once.
func renewAt(leaf *x509.Certificate) time.Time {
	lifetime := leaf.NotAfter.Sub(leaf.NotBefore)
	early := mathrand.N(lifetime/20 + 1) //nolint:gosec // spreads load, no secret
	return leaf.NotAfter.Add(-lifetime/3 - early).UTC().Truncate(time.Microsecond)
}

// order obtains a certificate for a name that is served.
func (s *Service) order(ctx context.Context, host, holder string) (out issued, err error) {
	client, err := s.registeredClient(ctx)
	if err != nil {
		return out, err
	}
	order, err := client.AuthorizeOrder(ctx, acme.DomainIDs(host))
	if err != nil {
		return out, fmt.Errorf("certificates: order %s: %w", host, err)
	}
	at := order.URI
	for _, authorization := range order.AuthzURLs {
		if err := s.prove(ctx, client, authorization, host, holder); err != nil {
			return out, err
		}
	}
	if order, err = client.WaitOrder(ctx, at); err != nil {
		return out, fmt.Errorf("certificates: order %s: %w", host, err)
	}
	if !s.Serves(host) {
		return out, fmt.Errorf("certificates: %s is no longer served", host)
	}
	order.URI = at
	return s.finalize(ctx, client, order, host)
}

// prove answers the challenge of an authorization that is not valid yet.
func (s *Service) prove(ctx context.Context, client *acme.Client, authorization, host, holder string) error {
	wanted, err := client.GetAuthorization(ctx, authorization)
	if err != nil {
		return fmt.Errorf("certificates: authorization of %s: %w", host, err)
	}
	if wanted.Status == acme.StatusValid {
		return nil
	}
	var challenge *acme.Challenge
	for _, one := range wanted.Challenges {
		if one.Type == "tls-alpn-01" {
			challenge = one
		}
	}
	if challenge == nil {
		return errors.New("certificates: the ACME server doesn't offer the challenge tls-alpn-01")
	}
	if err := s.present(ctx, client, challenge.Token, host, holder); err != nil {
		return err
	}
	if _, err := client.Accept(ctx, challenge); err != nil {
		return fmt.Errorf("certificates: challenge of %s: %w", host, err)
	}
	if _, err := client.WaitAuthorization(ctx, authorization); err != nil {
		return fmt.Errorf("certificates: challenge of %s: %w", host, err)
	}
	return nil
}

// present makes every replica answer the challenge: the ACME server's check may reach any
// of them, several times.
func (s *Service) present(ctx context.Context, client *acme.Client, token, host, holder string) error {
	answer, err := client.TLSALPN01ChallengeCert(token, host)
	if err != nil {
		return fmt.Errorf("certificates: challenge of %s: %w", host, err)
	}
	s.running.present(host, &answer)
	if s.Settle == 0 {
		return nil
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		held, err := tx.SetCertificateChallenge(host, holder, token)
		if err == nil && !held {
			err = fmt.Errorf("certificates: another replica is obtaining the certificate for %s", host)
		}
		return err
	})
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.Settle):
		return nil
	}
}

// finalize requests the certificate of an order that is ready, for a new key.
func (s *Service) finalize(ctx context.Context, client *acme.Client, order *acme.Order, host string) (issued, error) {
	text, err := newKey()
	if err != nil {
		return issued{}, err
	}
	key, err := parseKey(text)
	if err != nil {
		return issued{}, err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{host}}, key)
	if err != nil {
		return issued{}, fmt.Errorf("certificates: request of %s: %w", host, err)
	}
	chain, _, err := client.CreateCertFromOrder(ctx, order, request, true)
	if err != nil {
		return issued{}, fmt.Errorf("certificates: finalize the order of %s: %w", host, err)
	}
	var out strings.Builder
	for _, der := range chain {
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
			return issued{}, fmt.Errorf("certificates: encode the chain of %s: %w", host, err)
		}
	}
	pair, err := tls.X509KeyPair([]byte(out.String()), []byte(text.Reveal()))
	if err == nil {
		err = pair.Leaf.VerifyHostname(host)
	}
	if err != nil {
		return issued{}, fmt.Errorf("certificates: the ACME server returned a certificate that doesn't match %s or "+
			"its key: %w",
			host, err)
	}
	return issued{chain: out.String(), key: text, leaf: pair.Leaf}, nil
}

// explain returns the text of a failure for a page: what the ACME server reports, without
// control characters and bounded.
func explain(failed error) string {
	text := failed.Error()
	if refused, ok := errors.AsType[*acme.AuthorizationError](failed); ok && len(refused.Errors) > 0 {
		text = refused.Errors[0].Error()
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if letters := []rune(text); len(letters) > maxProblem {
		text = string(letters[:maxProblem]) + "…"
	}
	return text
}
