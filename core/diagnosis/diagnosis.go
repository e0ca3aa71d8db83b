// Package diagnosis has the reports of tests of what a project depends on: its targets, the issuers of its callers'
// tokens, and the identity providers of its app clients.
//
// It owns the form of a report. It leaves the tests to the packages whose connections they use (gateway,
// gateway/bearer, service/introspection, service/login/providers), and who may run them to service/diagnostics.
// A report holds neither tokens, secrets nor addresses that a host name has: its reader may not know the network.
package diagnosis

import (
	"fmt"
	"strings"
	"time"
)

// Outcome is the outcome of a step, and of a whole report.
type Outcome string

// The outcomes, from the best to the worst. A skipped step says why it does not apply or could not be tried.
const (
	Skip Outcome = "skip"
	Pass Outcome = "pass"
	Warn Outcome = "warn"
	Fail Outcome = "fail"
)

// Step is one thing that was tried.
type Step struct {
	Step    string // stable, snake_case
	Outcome Outcome
	Detail  string // a sentence: what was found, or what is wrong and how to fix it
}

// Report is what a test found.
type Report struct {
	Steps  []Step // in the order in which they were tried
	Target *Target
	Keys   []Key // of an issuer or provider, that can verify tokens
}

// Target is what was measured of a target; a field is zero if the test did not get that far.
type Target struct {
	Addresses          AddressClass
	TLSVersion         string    // such as TLS 1.3; "" without TLS
	CertificateExpires time.Time // of the upstream's own certificate
	Status             int       // of its answer
	FirstByte          time.Duration
}

// Key is a public key of an issuer.
type Key struct {
	ID        string // kid; "" for none
	Type      string // such as RSA or EC P-256
	Algorithm string // the only one that it is for; "" for all of its type
}

// AddressClass says where the address is that was connected to.
type AddressClass string

// The classes. Addresses other than public ones are reached only where the operator allows it.
const (
	Public   AddressClass = "public"
	Private  AddressClass = "private"
	Loopback AddressClass = "loopback"
)

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
}

// Outcome returns the worst outcome of the steps. A report whose steps were all skipped passes.
func (r *Report) Outcome() Outcome {
	worst := Pass
	for _, step := range r.Steps {
		if step.Outcome == Fail || step.Outcome == Warn && worst == Pass {
			worst = step.Outcome
		}
	}
	return worst
}

const maxQuoted = 200 // bytes

// Quote returns text of the other side in quotes, on one line and at most 200 bytes of it.
func Quote(text string) string {
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
