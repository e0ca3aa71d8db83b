package diagnostics

import (
	"testing"
	"time"

	"postern/platform/fault"
	"postern/service/access"
)

func TestBudget(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC)
	alice, bob := access.Principal{Account: "acc_1"}, access.Principal{Token: "wsk_1"}
	var b budget
	for range perMinute {
		leave, err := b.enter(alice, now)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if _, err := b.enter(alice, now); fault.KindOf(err) != fault.TooMany {
		t.Errorf("one more within the minute: %v", err)
	}
	if _, err := b.enter(bob, now); err != nil {
		t.Errorf("another caller: %v", err)
	}
	if _, err := b.enter(alice, now.Add(30*time.Second)); err != nil {
		t.Errorf("in the next minute: %v", err)
	}
}

func TestBudget_atOnce(t *testing.T) {
	var b budget
	now := time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC)
	var last func()
	for i := range atOnce {
		leave, err := b.enter(access.Principal{Account: string(rune('a' + i))}, now)
		if err != nil {
			t.Fatal(err)
		}
		last = leave
	}
	if _, err := b.enter(access.Principal{Account: "z"}, now); fault.KindOf(err) != fault.TooMany {
		t.Errorf("one more at once: %v", err)
	}
	last()
	if _, err := b.enter(access.Principal{Account: "z"}, now); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}
