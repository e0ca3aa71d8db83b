package accounts_test

import (
	"fmt"
	"testing"
	"time"

	"postern/service/accounts"
)

func TestAttempts_flood(t *testing.T) {
	a := accounts.Attempts{Window: time.Hour, Most: 100}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	take := func(key string) bool { return a.Take(now, accounts.Bound{Key: key, Max: 1}) }
	take("old")
	take("victim")
	for i := range 99 {
		take(fmt.Sprint(i))
	}
	if take("victim") {
		t.Error("a flood has cleared another's count")
	}
	if !take("old") {
		t.Error("the oldest is still remembered: more is kept than said")
	}
}

func TestAttempts_expiry(t *testing.T) {
	a := accounts.Attempts{Window: time.Hour}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	bound := accounts.Bound{Key: "k", Max: 2}
	a.Take(now, bound)
	a.Take(now.Add(30*time.Minute), bound)
	if a.Take(now.Add(59*time.Minute), bound) {
		t.Error("a third within the hour")
	}
	if !a.Take(now.Add(time.Hour), bound) {
		t.Error("none when the hour is over")
	}
	a.Take(now.Add(time.Hour), bound)
	a.Forget("k")
	if !a.Allow(now.Add(time.Hour), bound) {
		t.Error("what was taken back counts")
	}
}
