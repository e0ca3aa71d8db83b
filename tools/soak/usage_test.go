package main

import (
	"testing"
	"time"
)

// TestUsage_killed has answers of before, in and after the time whose calls a kill may lose, some of which
// are counted when the gateway is gone already.
func TestUsage_killed(t *testing.T) {
	u := newUsage()
	since := time.Now().Add(-time.Minute)
	count := func(gateway string, at time.Time) { u.count(answer{gateway: gateway, sent: at, answered: at}) }
	count("a", since.Add(-time.Millisecond))
	count("a", since.Add(time.Millisecond))
	count("b", since.Add(time.Millisecond))
	u.killed("a", since)
	count("a", since.Add(2*time.Millisecond)) // answered before the kill
	count("b", since.Add(2*time.Millisecond))
	count("a", time.Now().Add(time.Second)) // by the process that was started after it
	if least, most := u.bounds(); least != 4 || most != 6 {
		t.Errorf("usage may be %d to %d calls, want 4 to 6", least, most)
	}
}
