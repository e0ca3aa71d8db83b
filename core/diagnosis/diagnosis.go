// Package diagnosis writes the reports of tests of a project's dependencies: its targets, the issuers of its callers'
// tokens, and the identity providers of its app clients.
//
// It owns how a report grows step by step; its form is the contract's. It leaves the tests to the packages whose
// connections they use (gateway, gateway/bearer, service/introspection, service/login/providers), and who may run them
// to service/diagnostics. A report holds neither tokens, secrets nor addresses that a host name has: its reader may not
// know the network.
package diagnosis

import (
	"fmt"
	"strings"
	"time"

	"postern/core/contract"
)

// The parts of a report, which the API shows unchanged.
type (
	// Outcome is pass, warn, fail or skip.
	Outcome = contract.TestOutcome
	// Step is one thing that was tried.
	Step = contract.TestStep
	// Target is the result of testing an upstream.
	Target = contract.TestedTarget
	// OfferedCA is a certificate that could be an authority of the upstream's.
	OfferedCA = contract.OfferedCA
	// Key is a public key of an issuer.
	Key = contract.IssuerKey
	// AddressClass says who can reach an address.
	AddressClass = contract.AddressClass
)

// The outcomes of steps, and the classes of addresses.
const (
	Skip = contract.TestSkip
	Pass = contract.TestPass
	Warn = contract.TestWarn
	Fail = contract.TestFail

	Public   = contract.AddressPublic
	Private  = contract.AddressPrivate
	Loopback = contract.AddressLoopback
)

// Report has a test's findings so far, in the order of the steps. Its outcome is the worst of the steps; if all were
// skipped, it passes.
type Report struct{ contract.Diagnosis }

// Pass adds a step that succeeded.
func (r *Report) Pass(step, detail string, args ...any) { r.add(step, Pass, detail, args) }

// Warn adds a step that succeeded, but not as it should.
func (r *Report) Warn(step, detail string, args ...any) { r.add(step, Warn, detail, args) }

// Fail adds a step that failed.
func (r *Report) Fail(step, detail string, args ...any) { r.add(step, Fail, detail, args) }

// Skip adds a step that does not apply, or could not be tried.
func (r *Report) Skip(step, detail string, args ...any) { r.add(step, Skip, detail, args) }

func (r *Report) add(step string, outcome Outcome, detail string, args []any) {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	r.Steps = append(r.Steps, Step{Step: step, Outcome: outcome, Detail: detail})
	switch {
	case outcome == Fail, outcome == Warn && r.Outcome != Fail:
		r.Outcome = outcome
	case r.Outcome == "":
		r.Outcome = Pass
	}
}

// Milliseconds returns a duration in the form that reports use.
func Milliseconds(d time.Duration) contract.Milliseconds { return contract.MillisecondsOf(d) }

const maxQuoted = 200 // bytes

// Quote returns at most 200 bytes of the other side's text, in quotes and on one line.
func Quote(text string) string {
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
