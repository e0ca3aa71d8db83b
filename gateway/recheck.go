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

// recheck decides again whether a call that is being forwarded would be admitted, by its credential and the current
// table. It returns the denial that the call would get now, and false if the call may continue.
//
// It runs on another goroutine than the call. It reads only fields that are written before the call is forwarded, and
// writes none.
func (c *call) recheck() (policy.Denial, bool) {
	_, at, ok := c.gateway.find(c.host, c.method, c.target, c.conn)
	if !ok {
		return c.gateway.unrouted(at), true
	}
	if at.project.id != c.route.project.id || at.environment.id != c.route.environment.id {
		return policy.NoRoute, true
	}
	now := c.gateway.now()
	if denial, ended := at.project.ended(now); ended {
		return denial, true
	}
	if at.project.takenDown {
		return policy.ProjectFrozen, true
	}
	in := policy.Call{
		Access:      &at.version.access,
		Realm:       at.project.realm,
		Places:      at.version.places,
		Environment: at.environment.name,
		Former:      at.environment.former,
		RemoteIP:    c.conn.addr,
		Rules:       at.version.rules,
		Method:      c.method,
		Path:        at.rest,
		Relations:   c.gateway.relations(),
		Now:         now,
	}
	if c.presentedKey {
		in.KeyLines = 1
		key := c.cache.key // a copy: what Lookup finds is written into it
		if found, old := c.gateway.lookUp(at.project.realm, c.secret, &key); found {
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

// stillTaken reports whether a token that was checked when its call began has not expired, and whether the version
// still names its issuer.
func stillTaken(token *policy.Token, by *snapshot.Access, now time.Time) bool {
	if !token.Expires.IsZero() && !token.Expires.After(now) {
		return false
	}
	if token.Client != "" || by.Allows(snapshot.Opaque) {
		return true // policy looks app clients up, and introspection endpoints name themselves
	}
	return slices.ContainsFunc(by.Issuers(), func(one snapshot.TokenIssuer) bool { return one.Issuer == token.Issuer })
}

// recheckEvery is how often calls of net/http are rechecked. The engine checks its
// own calls in its sweep.
const recheckEvery = 500 * time.Millisecond

// watch rechecks a call until stop, and ends the call when it would be refused.
type watch struct {
	call  *httpCall
	timer *time.Timer

	mu    sync.Mutex
	end   func()        // ends the call's current wait; may be called more than once
	ended policy.Denial // why the call was ended; the zero value if it was not
	over  bool          // stop was called
}

// watchOver starts a watch. Most calls are over before its timer fires.
func (c *httpCall) watchOver(end func()) *watch {
	w := &watch{call: c, end: end}
	w.mu.Lock() // check reads timer
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(recheckEvery, w.check)
	return w
}

func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if denial, refused := w.call.recheck(); refused {
		w.ended = denial
		w.end()
	} else {
		w.call.writing.arm()
	}
	// The timer continues after the end: the call may have replaced the deadline in the past before it noticed.
	w.timer.Reset(recheckEvery)
}

// endBy replaces the function that ends the call.
func (w *watch) endBy(end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = end
}

// stop stops watching. It returns the code of the denial that ended the call, "" if the watch
// did not end it.
func (w *watch) stop() (code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
	return w.ended.Code
}

// hasEnded reports whether the watch has ended the call.
func (w *watch) hasEnded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended != policy.Denial{}
}

// cutOff ends a call that net/http serves: cancel ends the exchange with the upstream, and
// deadlines in the past end reads and writes that wait for the caller.
func (c *httpCall) cutOff(cancel context.CancelFunc) {
	cancel()
	control := http.NewResponseController(c.w)
	past := time.Unix(1, 0)
	_ = control.SetReadDeadline(past)
	_ = control.SetWriteDeadline(past)
}
