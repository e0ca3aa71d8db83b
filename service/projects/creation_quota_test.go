package projects_test

import (
	"fmt"
	"testing"
	"time"

	"postern/platform/fault"
	"postern/service/projects"
	"postern/testkit"
)

var noon = time.Date(2026, 5, 4, 12, 10, 0, 0, time.UTC)

// countAllowed returns how many of a number of requests are allowed.
func countAllowed(q *projects.CreationQuota, times int, now time.Time, addr func(i int) string) (count int) {
	for i := range times {
		if q.Allow(addr(i), now) == nil {
			count++
		}
	}
	return count
}

func mapped(i int) string { return []string{"192.0.2.1:1", "[::ffff:192.0.2.1]:1"}[i%2] }

func same(addr string) func(int) string { return func(int) string { return addr } }

func TestCreationQuota(t *testing.T) {
	for name, tc := range testkit.ByName(map[string]struct {
		addr func(i int) string
		want int
	}{
		"one address":              {same("192.0.2.1:1000"), 20},
		"one address, many ports":  {func(i int) string { return fmt.Sprintf("192.0.2.1:%d", 1000+i) }, 20},
		"one address, also mapped": {mapped, 20},
		"a /64":                    {func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", i) }, 20},
		"a /24":                    {func(i int) string { return fmt.Sprintf("192.0.2.%d:1", i%200) }, 100},
		"a /48":                    {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1", i) }, 100},
		"adjacent networks":        {func(i int) string { return fmt.Sprintf("10.%d.%d.1:1", i/200, i%200) }, 1000},
		"unreadable addresses":     {func(i int) string { return fmt.Sprintf("@%d", i) }, 10},
	}) {
		t.Run(name, func(t *testing.T) {
			if got := countAllowed(new(projects.CreationQuota), 1000, noon, tc.addr); got != tc.want {
				t.Errorf("%d allowed, want %d", got, tc.want)
			}
		})
	}
}

func TestCreationQuota_retryAfter(t *testing.T) {
	var q projects.CreationQuota
	countAllowed(&q, 20, noon, same("192.0.2.1:1"))
	err := q.Allow("192.0.2.1:1", noon)
	if fault.KindOf(err) != fault.TooMany {
		t.Errorf("got %v, want TooMany", err)
	}
	if wait := fault.RetryAfter(err); wait != 50*time.Minute {
		t.Errorf("retry after %s, want 50 minutes", wait)
	}
	if err := q.Allow("192.0.2.1:1", noon.Add(50*time.Minute)); err != nil {
		t.Errorf("in the next hour: %v", err)
	}
}

// A caller with very many networks cannot make the table grow without bound, nor use up
// the quota of the addresses in it.
func TestCreationQuota_overflow(t *testing.T) {
	var q projects.CreationQuota
	if err := q.Allow("192.0.2.1:1", noon); err != nil {
		t.Fatal(err)
	}
	many := func(i int) string { return fmt.Sprintf("[2a%02x:%x:%x::1]:1", i>>16, i>>8&0xff, i&0xff) }
	got := countAllowed(&q, 60_000, noon, many)
	if got < 24_000 || got > 26_000 {
		t.Errorf("%d of 60000 networks were allowed, want about half as many as there are entries", got)
	}
	if err := q.Allow("192.0.2.1:1", noon); err != nil {
		t.Errorf("an address counted before: %v", err)
	}
}
