package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"syscall"
	"time"

	"postern/gateway/balance"
	"postern/gateway/engine"
	"postern/platform/egress"
)

// TargetHealth is the health of a target as this process sees it.
type TargetHealth struct {
	ProjectID, EnvironmentID string

	Target   string // its host, with its port unless that is the scheme's default
	Position int    // among the targets of the environment, from 1
	State    string // healthy, unhealthy, or open if its breaker stops calls
	Since    time.Time
	Reason   string // why it isn't healthy, such as status 503; "" if it is
}

// StateHealthy is the TargetHealth.State of a target that gets calls.
const StateHealthy = "healthy"

// watched is an environment with targets about whose health something decides.
type watched struct {
	project     *project
	environment *environment
}

// watch remembers the environments of a table whose targets can be unhealthy. The caller holds Gateway.publish.
func (g *Gateway) watch(t *table) {
	var all []watched
	for _, p := range t.compiled {
		if p.deleted || p.takenDown {
			continue
		}
		for v := range p.versions {
			for e := range p.versions[v].environments {
				if env := &p.versions[v].environments[e]; env.watched {
					all = append(all, watched{p, env})
				}
			}
		}
	}
	g.watched.Store(&all)
}

// Health returns the health of all targets that have checks or breakers, in no particular order.
func (g *Gateway) Health() (out []TargetHealth) {
	all := g.watched.Load()
	if all == nil {
		return nil
	}
	for _, w := range *all {
		for i, h := range w.environment.balance.Health() {
			state := StateHealthy
			if h.Status != balance.Healthy {
				state = string(h.Status)
			}
			out = append(out, TargetHealth{
				w.project.id, w.environment.id, h.Address, i + 1, state, h.Since, h.Reason,
			})
		}
	}
	return out
}

// tryProblem says in a few words how a try failed. It never has a part of the call or of the response.
func tryProblem(last *engine.Try) string {
	switch last.Outcome {
	case engine.Answered:
		return statusProblem(last.Status)
	case engine.TimedOut:
		return problemTimeout
	case engine.Unsent:
		return connectProblem(last.Err)
	default:
		return problemNoResponse
	}
}

const (
	problemTimeout    = "timeout"
	problemNoResponse = "no response"
)

func statusProblem(status int) string { return "status " + strconv.Itoa(status) }

// connectProblem says in a few words why a connection to a target failed.
func connectProblem(err error) string {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		invalid     x509.CertificateInvalidError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case errors.Is(err, egress.ErrForbidden):
		return "address not allowed"
	case errors.As(err, &name):
		return "name not found"
	case isTimeout(err):
		return problemTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &certificate), errors.As(err, &invalid):
		return "certificate not accepted"
	case errors.As(err, &record), errors.As(err, &alert):
		return "TLS handshake failed"
	}
	return "connection failed"
}
