package gateway

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"strings"

	"postern/core/policy"
)

// Ownership has the relations of projects and records the changes that calls make to them.
type Ownership interface {
	policy.Relations
	// Record records a change, and waits briefly for it to be written. It returns false if the change was lost.
	Record(OwnerChange) bool
}

// relations returns what rules with owner decide by; nil without Ownership.
func (g *Gateway) relations() policy.Relations {
	if g.ownership == nil {
		return nil
	}
	return g.ownership
}

// OwnerChange makes User the owner of Object. With an empty User, it removes all owners of Object in the
// tenant.
type OwnerChange struct{ ProjectID, TenantID, User, Object string }

// tracker finds in an answer which object a rule remembers or forgets, while the answer is relayed. It
// implements engine.Tap.
type tracker struct {
	call  *call
	track *policy.Tracking
	user  string
	reads bool // the object is read from the answer

	gzip    bool
	body    []byte // a copy of the relayed bytes
	hold    *bodyHold
	miss    policy.MissReason
	began   bool // it has a body
	tracked bool // the answer has 2xx
	ended   bool
}

// newTracker returns nil if the rule of the call's route neither records nor removes owners.
func (c *call) newTracker(d *policy.Decision) *tracker {
	if d.Tracking == nil || c.gateway.ownership == nil {
		return nil
	}
	return &tracker{
		call:  c,
		track: d.Tracking,
		user:  strings.Clone(d.RelationUser),
		reads: d.Tracking.ReadsAnswer(),
	}
}

// answered begins with the head of the final answer, and reports whether its body matters.
func (t *tracker) answered(status int, contentType, encoding string) bool {
	t.tracked = status >= 200 && status < 300
	if !t.tracked || !t.reads {
		return t.tracked
	}
	switch encoding = strings.ToLower(strings.TrimSpace(encoding)); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		t.gzip = true
	default:
		t.miss = policy.MissEncoded
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if t.miss == "" && (err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json"))) {
		t.miss = policy.MissNotJSON
	}
	return true
}

// joinLines joins the values of two lines of one field (RFC 9110, 5.3).
func joinLines(first, second string) string {
	if first == "" {
		return second
	}
	return first + ", " + second
}

// Data implements engine.Tap.
func (t *tracker) Data(p []byte) {
	t.began = t.began || len(p) > 0
	switch {
	case t.miss != "" || !t.reads:
	case len(t.body)+len(p) > policy.MaxAnswer:
		t.miss, t.body = policy.MissTooLarge, nil
	case !t.grow(len(p)):
		t.miss, t.body = policy.MissNoMemory, nil
	default:
		t.body = append(t.body, p...)
	}
}

// grow makes room for more of the body, and reports whether there is memory for it.
func (t *tracker) grow(more int) bool {
	if t.hold == nil {
		t.hold = t.call.newHold()
	}
	need := len(t.body) + more
	if need <= cap(t.body) {
		return true
	}
	size := max(need, int(roomAfter(int64(cap(t.body)))))
	if !t.hold.take(int64(size - cap(t.body))) {
		return false
	}
	t.body = append(make([]byte, 0, size), t.body...)
	return true
}

// End implements engine.Tap.
func (t *tracker) End() {
	if t.ended || !t.tracked {
		return
	}
	t.ended = true
	c := t.call
	change := OwnerChange{ProjectID: c.route.project.id, TenantID: c.identity.TenantID}
	if t.track.Forgets() {
		object, ok := t.track.Forgotten(c.route.rest)
		if change.Object = object; ok && c.gateway.ownership.Record(change) {
			c.tracked.did, c.tracked.object = TrackedForgotten, object
			return
		}
		t.missed(policy.MissOverloaded)
		return
	}
	object, miss := t.object()
	if miss != "" {
		t.missed(miss)
		return
	}
	change.User, change.Object = t.user, object
	if !c.gateway.ownership.Record(change) {
		t.missed(policy.MissOverloaded)
		return
	}
	c.tracked.did, c.tracked.object = TrackedRemembered, object
}

func (t *tracker) object() (string, policy.MissReason) {
	switch {
	case !t.reads:
		return t.track.Remembered(t.call.route.rest, nil)
	case !t.began:
		return "", policy.MissNoBody
	case t.miss != "":
		return "", t.miss
	case !t.gzip:
		return t.track.Remembered(t.call.route.rest, t.body)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(t.body))
	if err != nil {
		return "", policy.MissEncoded
	}
	body, err := readWhole(zipped, policy.MaxAnswer+1, t.hold)
	switch {
	case errors.Is(err, errNoMemory):
		return "", policy.MissNoMemory
	case err != nil:
		return "", policy.MissEncoded
	case len(body) > policy.MaxAnswer:
		return "", policy.MissTooLarge
	}
	return t.track.Remembered(t.call.route.rest, body)
}

func (t *tracker) missed(reason policy.MissReason) {
	t.call.tracked.did, t.call.tracked.reason = TrackedMissed, string(reason)
}

// finish records that the answer was cut off, unless it ended.
func (t *tracker) finish() {
	if t == nil || !t.tracked {
		return
	}
	t.call.tracked.rule = t.track.Rule
	if !t.ended {
		t.missed(policy.MissIncomplete)
	}
}

// The values of Outcome.Tracked: the results for an object that a rule remembers or forgets.
const (
	TrackedRemembered = "remembered"
	TrackedForgotten  = "forgotten"
	TrackedMissed     = "missed"
)

// tracked is the change that a call made to the owner of an object; see Outcome.
type tracked struct{ rule, did, object, reason string }

// trackedBody passes the body of a response that net/http relays to a tracker. Read returns io.EOF only after
// the tracker has seen the whole body, so that the owner is recorded before the caller gets the end.
type trackedBody struct {
	from  io.ReadCloser
	track *tracker
	left  int64 // remaining bytes; negative if unknown
}

func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.track.Data(p[:n])
	if b.left >= 0 {
		b.left -= int64(n)
	}
	if err == io.EOF || b.left == 0 {
		b.track.End()
	}
	return n, err //nolint:wrapcheck // as it is
}

func (b *trackedBody) Close() error { return b.from.Close() } //nolint:wrapcheck // as it is
