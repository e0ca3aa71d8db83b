package models

import (
	"testing"
	"time"
)

func TestCircuit(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
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
	} {
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
