// Package diagnostics tests a project's dependencies on request of someone who may change the project: targets, issuers
// of tokens, introspection endpoints, identity providers.
//
// It owns the permissions and limits of tests. It leaves the tests to the parts whose connections they use, so that a
// test finds what a call would, and validation to service/projects. A test changes nothing, is not audited, and keeps
// neither tokens nor answers.
package diagnostics

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/core/diagnosis"
	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/introspection"
	"postern/service/login/tokencheck"
	"postern/service/projects"
)

// Gateway checks targets as the gateway of this process reaches them.
type Gateway interface {
	CheckTarget(ctx context.Context, projectID, environmentID string) (diagnosis.Report, bool)
}

// Verifier tests issuers as the gateway of this process verifies their tokens.
type Verifier interface {
	Inspect(ctx context.Context, issuer snapshot.TokenIssuer, token string, now time.Time) diagnosis.Report
}

// Service runs the tests. Client must be the guarded one of package egress.
type Service struct {
	Projects   *projects.Service
	AppClients *appclients.Service
	Client     *http.Client
	Gateway    Gateway
	Verifier   Verifier

	Clock func() time.Time // nil: time.Now

	budget budget
}

// Target checks the target of an environment. Errors other than those of access: code environment_not_served if the
// gateway of this process does not serve it yet, and too_many_tests.
func (s *Service) Target(
	ctx context.Context, p access.Principal, in contract.EnvironmentPath,
) (contract.Diagnosis, error) {
	projectID, id, err := s.Projects.InspectEnvironment(ctx, p, in)
	if err != nil {
		return contract.Diagnosis{}, err
	}
	leave, err := s.budget.enter(p, s.now())
	if err != nil {
		return contract.Diagnosis{}, err
	}
	defer leave()
	report, served := s.Gateway.CheckTarget(ctx, projectID, id)
	if !served {
		return report.Diagnosis, fault.New(fault.Conflict, "environment_not_served",
			"The gateway doesn't serve this environment yet. Try again in a moment.")
	}
	return report.Diagnosis, nil
}

// Issuer tests an issuer of a version, saved or not. With a token it reports what would be decided about it. Errors
// other than those of access: wrong fields of the pair, and too_many_tests.
func (s *Service) Issuer(
	ctx context.Context, p access.Principal, in contract.TokenIssuerTest,
) (contract.Diagnosis, error) {
	if err := s.Projects.InspectIssuer(ctx, p, in.VersionPath, in.Body.TokenIssuer); err != nil {
		return contract.Diagnosis{}, err
	}
	leave, err := s.budget.enter(p, s.now())
	if err != nil {
		return contract.Diagnosis{}, err
	}
	defer leave()
	return s.Verifier.Inspect(ctx, in.Body.TokenIssuer, given(in.Body.Token), s.now()).Diagnosis, nil
}

// Introspection tests an introspection endpoint: the version's own for nil. Errors are those of Issuer.
func (s *Service) Introspection(
	ctx context.Context, p access.Principal, in contract.IntrospectionTest,
) (contract.Diagnosis, error) {
	row, secret, err := s.Projects.InspectIntrospection(ctx, p, in.VersionPath, in.Body.Opaque)
	if err != nil {
		return contract.Diagnosis{}, err
	}
	leave, err := s.budget.enter(p, s.now())
	if err != nil {
		return contract.Diagnosis{}, err
	}
	defer leave()
	at := tokencheck.Endpoint{
		URL:          row.Endpoint,
		ClientID:     row.ClientID,
		ClientSecret: secret,
		InForm:       row.Method == snapshot.SecretPost,
	}
	return introspection.Inspect(ctx, s.Client, at, row, given(in.Body.Token), s.now()).Diagnosis, nil
}

// given is a token as it was sent, without white space around it.
func given(token contract.Secret) string { return secrets.Given(token.Reveal()).Reveal() }

// Provider tests an identity provider of an app client. Errors other than those of access: too_many_tests.
func (s *Service) Provider(
	ctx context.Context, p access.Principal, in contract.ProviderPath,
) (contract.Diagnosis, error) {
	config, err := s.AppClients.ProviderToTest(ctx, p, in.Provider)
	if err != nil {
		return contract.Diagnosis{}, err
	}
	leave, err := s.budget.enter(p, s.now())
	if err != nil {
		return contract.Diagnosis{}, err
	}
	defer leave()
	report := s.AppClients.Providers.Inspect(ctx, config)
	s.AppClients.KeepEndpoints(ctx, in.Provider)
	return report.Diagnosis, nil
}

func (s *Service) now() time.Time {
	if s.Clock != nil {
		return s.Clock()
	}
	return time.Now()
}

// Bounds on tests in this process. A test makes a few requests to an address of the caller's choice.
const (
	perMinute   = 20 // of one account or workspace
	atOnce      = 8  // of all
	maxCounters = 10_000
)

// budget counts tests. Its zero value is ready.
type budget struct {
	mu      sync.Mutex
	window  time.Time
	started map[string]int
	running int
}

// enter counts a test, or refuses it as TooMany. leave ends it.
func (b *budget) enter(p access.Principal, now time.Time) (leave func(), err error) {
	who := p.Account
	if who == "" {
		who = p.Token
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	window := now.Truncate(time.Minute)
	if b.started == nil || !window.Equal(b.window) || len(b.started) > maxCounters {
		b.started, b.window = map[string]int{}, window
	}
	wait := b.window.Add(time.Minute).Sub(now)
	if b.started[who] >= perMinute {
		return nil, fault.New(fault.TooMany, "too_many_tests",
			"You can run at most %d tests per minute. Try again in %s.", perMinute,
			english.Plural(int(wait/time.Second)+1, "second", "")).After(wait)
	}
	if b.running >= atOnce {
		return nil, fault.New(fault.TooMany, "too_many_tests",
			"Too many tests are running. Try again in a few seconds.").After(time.Second)
	}
	b.started[who]++
	b.running++
	return b.leave, nil
}

func (b *budget) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
}
