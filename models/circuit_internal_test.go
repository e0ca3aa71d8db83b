package models

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"postern/testkit"
)

func TestCircuit(t *testing.T) {
	now := time.Now()
	for name, c := range testkit.ByName(map[string]struct {
		happens func(*circuit)
		at      time.Time
		allowed bool
	}{
		"new":                      {func(*circuit) {}, now, true},
		"a connection unanswered":  {func(c *circuit) { c.unanswered(now) }, now, false},
		"a try after a second":     {func(c *circuit) { c.unanswered(now) }, now.Add(2 * tryEvery), true},
		"a second try at the time": {tried(now.Add(2 * tryEvery)), now.Add(2 * tryEvery), false},
		"answered again": {
			func(c *circuit) { c.unanswered(now); c.answered() },
			now,
			true,
		},
		"one unanswered by a slow server": {
			func(c *circuit) { c.answered(); c.unanswered(now) },
			now,
			true,
		},
		"one unanswered after the last answer": {
			func(c *circuit) { c.answered(); c.unanswered(time.Now()) },
			now,
			false,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			var subject circuit
			c.happens(&subject)
			if allowed := subject.allow(c.at); allowed != c.allowed {
				t.Errorf("allow returns %t, want %t", allowed, c.allowed)
			}
		})
	}
}

// tried is an open circuit through which a connection was tried at a time.
func tried(at time.Time) func(*circuit) {
	return func(c *circuit) {
		c.unanswered(at.Add(-2 * tryEvery))
		c.allow(at)
	}
}

// outcome is a connector whose connections fail with it.
type outcome struct{ error }

func (o outcome) Connect(context.Context) (driver.Conn, error) { return nil, o.error }
func (outcome) Driver() driver.Driver                          { return nil }

func TestBreaker_connect(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, c := range map[string]struct {
		err   error
		heard bool
		opens bool
	}{
		"a connection":                   {nil, false, false},
		"an error of the server":         {&pgconn.PgError{Code: "28P01"}, false, false},
		"refused":                        {refused, false, false},
		"deadline":                       {context.DeadlineExceeded, false, true},
		"silent":                         {errSilent, false, true},
		"closed with another":            {net.ErrClosed, false, true},
		"no such machine":                {syscall.EHOSTUNREACH, false, true},
		"no route":                       {syscall.ENETUNREACH, false, true},
		"a resolver without an answer":   {&net.DNSError{IsTimeout: true}, false, true},
		"no such name":                   {&net.DNSError{IsNotFound: true}, false, false},
		"deadline, others still answer":  {context.DeadlineExceeded, true, false},
		"wrapped, as the driver does it": {fmt.Errorf("connect: %w", context.DeadlineExceeded), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var subject circuit
			b := breaker{outcome{c.err}, &subject, func(time.Time) bool { return c.heard }}
			_, _ = b.Connect(t.Context())
			if open := !subject.allow(time.Now()); open != c.opens {
				t.Errorf("the circuit is open: %t, want %t", open, c.opens)
			}
		})
	}
	t.Run("a caller who gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var subject circuit
		_, _ = breaker{outcome{context.Canceled}, &subject, func(time.Time) bool { return false }}.Connect(ctx)
		if !subject.allow(time.Now()) {
			t.Error("the circuit is open")
		}
	})
	t.Run("an answer closes an open one", func(t *testing.T) {
		var subject circuit
		subject.unanswered(time.Now().Add(-time.Minute))
		subject.next = time.Now() // a try is due
		_, _ = breaker{outcome{refused}, &subject, func(time.Time) bool { return false }}.Connect(t.Context())
		if !subject.allow(time.Now()) {
			t.Error("the circuit is still open")
		}
	})
}
