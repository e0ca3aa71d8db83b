package models

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// tryEvery is how often an open circuit lets a connection be tried.
const tryEvery = time.Second

var errCircuitOpen = fmt.Errorf("%w new connections", errUnreachable)

// breaker is a connector behind the circuit of its server. While connections get no
// answer, each of them would take a place in the pool until its own deadline, and
// callers that wait for a place would wait for the deadlines of all before them.
type breaker struct {
	driver.Connector
	circuit *circuit
}

// Connect implements driver.Connector.
func (b breaker) Connect(ctx context.Context) (driver.Conn, error) {
	began := time.Now()
	if !b.circuit.allow(began) {
		return nil, errCircuitOpen
	}
	conn, err := b.Connector.Connect(ctx)
	switch {
	case ctx.Err() != nil: // the caller gave up, which says nothing about the server
	case pgconn.Timeout(err), isAny(err, errSilent, net.ErrClosed): // closed when another was silent, see wire.dead
		b.circuit.unanswered(began)
	default: // an error is an answer too
		b.circuit.answered()
	}
	return conn, err
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

// unanswered opens the circuit, unless the server has answered another connection
// since this one began: then it is slow, and not away.
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
