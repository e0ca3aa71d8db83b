package gateway

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// standing decides again about a call that is under way: with the credential that it
// presented, by the state that is served now. It returns the denial that a call like
// it would get, false while it may go on.
//
// Another goroutine asks while the call is being forwarded. It reads only what is
// written before that, and writes nothing of the call.
func (c *call) standing() (policy.Denial, bool) {
	_, at, ok := c.gateway.find(c.host, c.target, c.conn)
	if !ok || at.project.id != c.route.project.id || at.environment.id != c.route.environment.id {
		return policy.NoRoute, true
	}
	now := c.gateway.now()
	switch end := at.project.expires; {
	case !end.IsZero() && !end.After(now):
		return policy.ExpiredProxy, true
	case at.project.takenDown:
		return policy.ProjectFrozen, true
	}
	in := policy.Call{
		Access:      &at.version.access,
		Realm:       at.project.realm,
		Environment: at.environment.name,
		RemoteIP:    c.conn.addr,
		Now:         now,
	}
	if c.presentedKey {
		in.KeyLines = 1
		key := c.cache.key // a copy: what Lookup finds is written into it
		if found, old := c.gateway.keys.Lookup(c.secret, &key); found {
			in.Key, in.OldSecret = &key, old
		}
	}
	if c.presentedToken {
		if in.Token = &c.cache.token; !stillTaken(in.Token, in.Access, now) {
			in.Token, in.TokenDenial = nil, policy.InvalidToken
		}
	}
	decision := policy.Decide(&in)
	return decision.Denial, !decision.Allow
}

// stillTaken reports whether a token that was judged when its call began has not
// expired, and whether its issuer, where the version names its issuers, is among them.
func stillTaken(token *policy.Token, by *snapshot.Access, now time.Time) bool {
	if !token.Expires.IsZero() && !token.Expires.After(now) {
		return false
	}
	if token.Client != "" || by.Allows(snapshot.Opaque) {
		return true // of an app client, which policy looks up; or of an endpoint that names itself
	}
	return slices.ContainsFunc(by.Issuers, func(one snapshot.TokenIssuer) bool { return one.Issuer == token.Issuer })
}

// lookAgainEvery is how often net/http's calls under way are judged again. The engine
// judges its own in its sweep.
const lookAgainEvery = 500 * time.Millisecond

// watch judges a call again and again until stop, and ends it when it would be refused.
type watch struct {
	call  *httpCall
	timer *time.Timer

	mu    sync.Mutex
	end   func()        // ends what the call waits for; called more than once
	ended policy.Denial // why; the zero value while the call may go on
	over  bool
}

// watchOver begins to watch a call. Most calls are over before the timer fires.
func (c *httpCall) watchOver(end func()) *watch {
	w := &watch{call: c, end: end}
	w.mu.Lock() // look reads timer
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(lookAgainEvery, w.look)
	return w
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if denial, refused := w.call.standing(); refused {
		w.ended = denial
		w.end()
	}
	// After the end as well: a deadline that was set in the past may have been
	// replaced by the call, which did not know yet.
	w.timer.Reset(lookAgainEvery)
}

// endBy replaces what ends the call.
func (w *watch) endBy(end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = end
}

// stop ends watching and returns the code of what ended the call, "" if nothing did.
func (w *watch) stop() (code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
	return w.ended.Code
}

// hasEnded reports whether the call was ended.
func (w *watch) hasEnded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended != policy.Denial{}
}

// cutOff ends a call that net/http serves: the cancellation ends the exchange with
// the upstream, the deadline reads and writes that wait for the caller.
func (c *httpCall) cutOff(cancel context.CancelFunc) {
	cancel()
	control := http.NewResponseController(c.w)
	past := time.Unix(1, 0)
	_ = control.SetReadDeadline(past)
	_ = control.SetWriteDeadline(past)
}
