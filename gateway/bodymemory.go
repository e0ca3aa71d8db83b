package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"postern/core/policy"
	"postern/core/snapshot"
)

// errNoMemory ends the reading of a body that no memory is left for.
var errNoMemory = errors.New("the bodies of calls take all the memory that they may")

// bodyMemory bounds the bytes of bodies that calls hold whole at a time, because they are validated, changed, or
// searched for an object: those of the process, or of a project. All other bodies are streamed.
type bodyMemory struct {
	most int64
	held atomic.Int64
}

func (m *bodyMemory) take(bytes int64) bool {
	if m.held.Add(bytes) <= m.most {
		return true
	}
	m.held.Add(-bytes)
	return false
}

// bodiesOf says whose memory for bodies a project's calls share: its own, or that of its unclaimed workspace.
func bodiesOf(s *snapshot.Project, caps *Caps) string {
	if !s.ExpiresAt.IsZero() && caps != nil && s.TeamID != "" {
		return s.TeamID
	}
	return s.ID
}

// bodyHold is what a call holds for one body, of the memory of the process and of its project.
type bodyHold struct {
	process, project *bodyMemory
	bytes            atomic.Int64
	missing          atomic.Int64 // what it last asked for in vain
}

// take reports whether there are that many bytes, which are held until release.
func (h *bodyHold) take(bytes int64) bool {
	if h.process.take(bytes) {
		if h.project.take(bytes) {
			h.bytes.Add(bytes)
			return true
		}
		h.process.held.Add(-bytes)
	}
	h.missing.Store(bytes)
	return false
}

// release may be called more than once, and by several goroutines.
func (h *bodyHold) release() {
	bytes := h.bytes.Swap(0)
	h.process.held.Add(-bytes)
	h.project.held.Add(-bytes)
}

// newHold returns a hold for one body of the call, which ends with the call at the latest.
func (c *call) newHold() *bodyHold {
	h := &bodyHold{process: &c.gateway.bodies, project: c.route.project.bodies}
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
// project may have, whatever other calls hold.
func (c *call) noMemory(tooLarge policy.Denial) policy.Denial {
	var needed int64
	for _, h := range c.holds {
		needed += h.bytes.Load() + h.missing.Load()
	}
	if needed > min(c.route.project.bodies.most, c.gateway.bodies.most) {
		return tooLarge
	}
	c.warn("bodies of calls take all the memory that they may", nil)
	c.retryAfter = 1
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

// memberMemory is what a member of a JSON object takes while it is changed, besides its text.
const memberMemory = 128

// memoryOfChanges returns how many bytes changing a body may take: a copy, and, of JSON, its members. More colons than
// members are counted where strings have them.
func memoryOfChanges(body []byte) int64 {
	return int64(len(body)) + int64(bytes.Count(body, []byte(":")))*memberMemory
}

// firstRead is the memory for the first bytes of a body that is read whole. It doubles while more arrive, so that a
// caller holds what was sent, and not what was announced.
const firstRead = 8 << 10

// readWhole reads at most limit bytes of a body into memory that it holds. With an error it returns what was read
// before.
func readWhole(from io.Reader, limit int64, hold *bodyHold) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			size := min(max(firstRead, 2*int64(cap(body))), limit)
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
