package gateway

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"

	"postern/core/policy"
	"postern/core/snapshot"
)

// errNoMemory ends the reading of a body if there is no memory left for it.
var errNoMemory = errors.New("request bodies use all of the memory reserved for them")

// bodyMemory bounds the memory for bodies that are held whole, because they are validated, changed, or searched for an
// object. All other bodies are streamed. The process has one budget, and so do the projects of a team. One address (for
// IPv6, one /64) gets only a share, so that a caller that sends many bodies slowly leaves the rest to others.
type bodyMemory struct {
	most, ofOne int64

	mu      sync.Mutex
	held    int64
	callers map[netip.Prefix]int64 // of held, by address; without those that hold nothing
}

// leastOfOne is the minimum that one address may hold, within the budget: a large body, and the values in it.
const leastOfOne = 4 << 20

// newBodyMemory returns a budget, of which one address may use one of the given number of shares.
func newBodyMemory(most, shares int64) *bodyMemory {
	return &bodyMemory{most: most, ofOne: min(most, max(most/shares, leastOfOne)), callers: map[netip.Prefix]int64{}}
}

// The shares of one address: a quarter of its team's limit, and an eighth of the process's.
const (
	sharesOfTeam    = 4
	sharesOfProcess = 8
)

// take reports whether there are that many bytes for the address. If not, share says whether others may have them.
func (m *bodyMemory) take(network netip.Prefix, bytes int64) (taken, share bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch own := m.callers[network]; {
	case m.held+bytes > m.most:
		return false, false
	case own+bytes > m.ofOne:
		return false, true
	default:
		m.held, m.callers[network] = m.held+bytes, own+bytes
		return true, false
	}
}

func (m *bodyMemory) giveBack(network netip.Prefix, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= bytes
	if m.callers[network] -= bytes; m.callers[network] == 0 {
		delete(m.callers, network)
	}
}

func (m *bodyMemory) inUse() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// bodiesOf returns the memory for bodies that a project's calls share with all projects of its team. An unclaimed
// workspace has less.
type bodiesOf struct {
	team      string // its id; in tests also that of a project without a team
	unclaimed bool
}

func bodiesOfProject(s *snapshot.Project, caps *Caps) bodiesOf {
	return bodiesOf{cmp.Or(s.TeamID, s.ID), !s.ExpiresAt.IsZero() && caps != nil}
}

// bodyHold is the share of the process's and the team's memory that a call holds for one body.
type bodyHold struct {
	process, team *bodyMemory
	network       netip.Prefix // of the caller
	bytes         atomic.Int64
	missing       atomic.Int64 // the last request that it refused
	share         atomic.Bool  // it was refused because of the caller's address
}

// take reports whether there are that many bytes, which are held until release.
func (h *bodyHold) take(bytes int64) bool {
	taken, share := h.process.take(h.network, bytes)
	if taken {
		if taken, share = h.team.take(h.network, bytes); taken {
			h.bytes.Add(bytes)
			return true
		}
		h.process.giveBack(h.network, bytes)
	}
	h.missing.Store(bytes)
	h.share.Store(share)
	return false
}

// release may be called more than once, and by several goroutines.
func (h *bodyHold) release() {
	if bytes := h.bytes.Swap(0); bytes != 0 {
		h.process.giveBack(h.network, bytes)
		h.team.giveBack(h.network, bytes)
	}
}

// newHold returns a hold for one body of the call. It ends with the call at the latest.
func (c *call) newHold() *bodyHold {
	h := &bodyHold{process: c.gateway.bodies, team: c.route.project.bodies, network: c.conn.network}
	c.holds = append(c.holds, h)
	return h
}

func (c *call) releaseBodies() {
	for _, h := range c.holds {
		h.release()
	}
	c.holds = nil
}

// noMemory returns the denial of a call that no memory is left for: tooLarge for a body that needs more than its
// caller may have, whatever other calls hold.
func (c *call) noMemory(tooLarge policy.Denial) policy.Denial {
	var needed int64
	share := false
	for _, h := range c.holds {
		needed += h.bytes.Load() + h.missing.Load()
		share = share || h.share.Load()
	}
	if needed > min(c.route.project.bodies.ofOne, c.gateway.bodies.ofOne) {
		return tooLarge
	}
	c.retryAfter = 1
	if share {
		c.warn("request bodies from one address use all of the memory reserved for them", nil)
		return policy.RateLimited
	}
	c.warn("request bodies use all of the memory reserved for them", nil)
	return policy.Busy
}

// heldBody is a body in memory, which is given back when it has been read or closed.
type heldBody struct {
	*bytes.Reader

	hold *bodyHold
}

func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.Len() == 0 {
		b.hold.release()
	}
	return n, err //nolint:wrapcheck // as it is
}

func (b *heldBody) Close() error {
	b.hold.release()
	return nil
}

// memberMemory is the memory of a member of a JSON object while it is changed, in addition to its text.
const memberMemory = 128

// memoryOfChanges returns how many bytes changing a body may take: a copy, and, of JSON, its members. More colons than
// members are counted where strings have them.
func memoryOfChanges(body []byte) int64 {
	return int64(len(body)) + int64(bytes.Count(body, []byte(":")))*memberMemory
}

// firstRead is the memory for the first bytes of a body that is read whole.
const firstRead = 8 << 10

// roomAfter returns the memory for a body that has filled what it had. It grows by little while more arrives, so that a
// caller holds about as much as it sent, rather than what it announced or twice as much.
func roomAfter(full int64) int64 { return full + max(firstRead, full/4) }

// readWhole reads at most limit bytes of a body into memory that it holds. With an error it returns what was read
// before.
func readWhole(from io.Reader, limit int64, hold *bodyHold) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			size := min(roomAfter(int64(cap(body))), limit)
			if size == int64(len(body)) {
				return body, nil
			}
			if !hold.take(size - int64(cap(body))) {
				return body, errNoMemory
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return body, fmt.Errorf("read the body: %w", err)
		}
	}
}
