package projects_test

import (
	"fmt"
	"testing"
	"time"

	"postern/platform/fault"
	"postern/service/projects"
)

var noon = time.Date(2026, 5, 4, 12, 10, 0, 0, time.UTC)

// taken counts how many of so many requests are taken.
func taken(n *projects.Newcomers, times int, now time.Time, addr func(i int) string) (count int) {
	for i := range times {
		if n.Allow(addr(i), now) == nil {
			count++
		}
	}
	return count
}

func same(addr string) func(int) string { return func(int) string { return addr } }

func TestNewcomersAreCountedByAddressAndNetwork(t *testing.T) {
	for name, tc := range map[string]struct {
		addr func(i int) string
		want int
	}{
		"one address":                {same("192.0.2.1:1000"), 20},
		"one address, many ports":    {func(i int) string { return fmt.Sprintf("192.0.2.1:%d", 1000+i) }, 20},
		"one address, also mapped":   {func(i int) string { return []string{"192.0.2.1:1", "[::ffff:192.0.2.1]:1"}[i%2] }, 20},
		"a /64":                      {func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", i) }, 20},
		"a /24":                      {func(i int) string { return fmt.Sprintf("192.0.2.%d:1", i%200) }, 100},
		"a /48":                      {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1", i) }, 100},
		"networks beside each other": {func(i int) string { return fmt.Sprintf("10.%d.%d.1:1", i/200, i%200) }, 1000},
		"addresses nobody can read":  {func(i int) string { return fmt.Sprintf("@%d", i) }, 10},
	} {
		if got := taken(new(projects.Newcomers), 1000, noon, tc.addr); got != tc.want {
			t.Errorf("%s: %d taken, want %d", name, got, tc.want)
		}
	}
}

func TestNewcomersAreToldWhenToComeBack(t *testing.T) {
	var n projects.Newcomers
	taken(&n, 20, noon, same("192.0.2.1:1"))
	err := n.Allow("192.0.2.1:1", noon)
	if fault.KindOf(err) != fault.TooMany || fault.RetryAfter(err) != 50*time.Minute {
		t.Errorf("%v, to come back after %s; want 50 minutes", err, fault.RetryAfter(err))
	}
	if err := n.Allow("192.0.2.1:1", noon.Add(50*time.Minute)); err != nil {
		t.Errorf("in the next hour: %v", err)
	}
}

// Whoever has very many networks cannot make the table grow without end, nor keep
// out those who are in it.
func TestNewcomersBeyondTheTableShareOneCount(t *testing.T) {
	var n projects.Newcomers
	if err := n.Allow("192.0.2.1:1", noon); err != nil {
		t.Fatal(err)
	}
	many := func(i int) string { return fmt.Sprintf("[2a%02x:%x:%x::1]:1", i>>16, i>>8&0xff, i&0xff) }
	got := taken(&n, 60_000, noon, many)
	if got < 24_000 || got > 26_000 {
		t.Errorf("%d of 60000 networks were let in, want about half as many as there are entries", got)
	}
	if err := n.Allow("192.0.2.1:1", noon); err != nil {
		t.Errorf("one that was there before: %v", err)
	}
}
