package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"time"
)

// gatewayHeader names the replica that answered; haproxy sets it.
const gatewayHeader = "X-Soak-Gateway"

// answer is what a caller got.
type answer struct {
	gateway        string
	status         int
	got            verdict
	key, owner     string // what the upstream was told
	sent, answered time.Time
	failed         error // no answer, or one of 500 and above
	tries          int   // of the client: it sends a call again whose connection was closed (RFC 9110, 9.2.2)
}

// caller calls the gateway with keys.
type caller struct {
	http *http.Client
	url  string
}

func (c *caller) call(ctx context.Context, s *secret) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return answer{failed: err}
	}
	r.Header.Set("X-API-Key", s.text)
	out := answer{sent: time.Now()}
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { out.tries++ },
	}))
	response, err := c.http.Do(r)
	if err != nil {
		out.answered, out.failed = time.Now(), err
		return out
	}
	defer response.Body.Close()
	var body struct{ Code, Key, Owner string }
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	out.answered, out.gateway, out.status = time.Now(), response.Header.Get(gatewayHeader), response.StatusCode
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if response.StatusCode >= http.StatusInternalServerError {
		err = errors.Join(fmt.Errorf("%s: %.200s", response.Status, text), err)
	}
	out.failed, out.key, out.owner = err, body.Key, body.Owner
	out.got = verdict(fmt.Sprint(response.StatusCode))
	if body.Code != "" {
		out.got += verdict(" " + body.Code)
	}
	return out
}

// cutOff reports whether a call that has failed may have been cut off, because its key was refused while
// it was under way (docs/network.md, streams and tunnels). A call is, that takes half a second.
func (m *model) cutOff(s *secret, a answer) bool {
	if a.failed == nil || a.status != 0 && a.got != cut {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(s.changes, func(c change) bool {
		return c.to != admitted && !c.from.After(a.answered) && !a.sent.After(m.due(a.gateway, c))
	})
}

// cut is HAProxy's answer if the gateway has closed a connection instead of answering.
const cut verdict = "502"

// wrong returns why an answer is wrong by the model, nil if it is right.
func (m *model) wrong(s *secret, a answer) error {
	if !m.judge(s, a.gateway, a.got, a.sent, a.answered) {
		return fmt.Errorf("gateway %s answered %q to a call with key %s, sent %s, answered %s; the key's changes: %s; "+
			"the gateway could not follow: %s", a.gateway, a.got, s.key.id, clock(a.sent), clock(a.answered),
			m.describe(s), m.lagged(a.gateway))
	}
	if a.got == admitted && (a.key != s.key.id || a.owner != s.key.owner) {
		return fmt.Errorf("gateway %s told the upstream that key %s of %s called, and it was key %s of %s",
			a.gateway, a.key, a.owner, s.key.id, s.key.owner)
	}
	return nil
}

// describe lists the changes of a secret.
func (m *model) describe(s *secret) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text string
	for _, c := range s.changes {
		text += fmt.Sprintf(" [%s from %s, acknowledged %s]", c.to, clock(c.from), clock(c.known))
	}
	return text
}

// lagged lists the times in which a gateway could not follow.
func (m *model) lagged(gateway string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text string
	for _, l := range m.lagging[gateway] {
		text += fmt.Sprintf(" [%s to %s]", clock(l.from), clock(l.until))
	}
	return text
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.Format("15:04:05.000")
}
