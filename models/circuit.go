package models

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// tryEvery is how often an open circuit lets a connection be tried.
const tryEvery = time.Second

var errCircuitOpen = fmt.Errorf("%w: new connections are refused", errUnreachable)

// breaker is a connector behind the circuit of its server. While connections get no
// answer, each of them would take a place in the pool until its own deadline, and
// callers that wait for a place would wait for the deadlines of all before them.
type breaker struct {
	driver.Connector
	circuit *circuit

	// heard reports whether a connection that was open at a time has brought a byte
	// since: then callers are served by those that there are.
	heard func(since time.Time) bool
}

// Connect implements driver.Connector.
func (b breaker) Connect(ctx context.Context) (driver.Conn, error) {
	began := time.Now()
	if !b.circuit.allow(began) {
		return nil, errCircuitOpen
	}
	conn, err := b.Connector.Connect(ctx)
	switch {
	case err == nil || isAnswer(err):
		b.circuit.answered()
	case ctx.Err() != nil: // the caller gave up, which says nothing about the server
	case isUnanswered(err) && !b.heard(began):
		b.circuit.unanswered(began)
	}
	return conn, err
}

// isAnswer reports whether a connection failed by an answer of the server or of its machine.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok || isAny(err, syscall.ECONNREFUSED, syscall.ECONNRESET)
}

// isUnanswered reports whether a connection failed because nothing came back. Connections are closed, including those
// being opened, when another one was silent: see wire.dead.
func isUnanswered(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() ||
		isAny(err, context.DeadlineExceeded, errSilent, net.ErrClosed, syscall.EHOSTUNREACH, syscall.ENETUNREACH)
}

// circuit is a circuit breaker for new connections to one server. It opens when one
// gets no answer before its deadline, and closes when any gets one.
type circuit struct {
	mu         sync.Mutex
	next       time.Time // when the next connection may be tried; zero: the circuit is closed
	answeredAt time.Time
}

// allow reports whether a connection may be tried.
func (c *circuit) allow(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.next) {
		return false
	}
	if !c.next.IsZero() {
		c.next = now.Add(tryEvery)
	}
	return true
}

// unanswered opens the circuit, unless the server has answered another connection since this one began: then it is
// slow, and not away.
func (c *circuit) unanswered(began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answeredAt.Before(began) {
		c.next = time.Now().Add(tryEvery)
	}
}

func (c *circuit) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next, c.answeredAt = time.Time{}, time.Now()
}
