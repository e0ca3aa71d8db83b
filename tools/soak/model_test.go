package main

import (
	"testing"
	"time"
)

// at is a time on the clock of the cases, in milliseconds.
func at(ms int) time.Time { return time.UnixMilli(int64(ms)) }

func TestAllows(t *testing.T) {
	created := change{admitted, at(0), at(100), at(100)}
	froze := change{frozen, at(5000), at(5100), at(5100)}
	thawed := change{admitted, at(8000), at(8100), at(8100)}
	revoked := change{refused, at(10_000), at(10_100), at(10_100)}
	revoking := change{to: refused, from: at(10_000)}
	graced := change{refused, at(14_000), at(14_000), at(10_100)}
	for name, tt := range map[string]struct {
		changes        []change
		got            verdict
		sent, answered int
		lag            interval
		want           bool
	}{
		"a key that works":                 {[]change{created}, admitted, 3000, 3010, interval{}, true},
		"a key that works is refused":      {[]change{created}, refused, 3000, 3010, interval{}, false},
		"a new key is not known yet":       {[]change{created}, refused, 1000, 1010, interval{}, true},
		"a new key is not known after 1 s": {[]change{created}, refused, 1101, 1110, interval{}, false},

		"revoked":                     {[]change{created, revoked}, refused, 12_000, 12_010, interval{}, true},
		"revoked, let in":             {[]change{created, revoked}, admitted, 12_000, 12_010, interval{}, false},
		"revoked, within the second":  {[]change{created, revoked}, admitted, 11_100, 11_900, interval{}, true},
		"revoked, after the second":   {[]change{created, revoked}, admitted, 11_101, 11_102, interval{}, false},
		"refused before it is sent":   {[]change{created, revoked}, refused, 9000, 9999, interval{}, false},
		"refused while it is sent":    {[]change{created, revoking}, refused, 9000, 10_001, interval{}, true},
		"let in while it is sent":     {[]change{created, revoking}, admitted, 60_000, 60_001, interval{}, true},
		"frozen while it is revoked":  {[]change{created, revoking}, frozen, 10_100, 10_110, interval{}, false},
		"revoked, answered as frozen": {[]change{created, revoked}, frozen, 10_100, 10_110, interval{}, false},

		"frozen":                  {[]change{created, froze, thawed}, frozen, 7000, 7001, interval{}, true},
		"frozen, let in":          {[]change{created, froze, thawed}, admitted, 7000, 7001, interval{}, false},
		"frozen, refused as dead": {[]change{created, froze, thawed}, refused, 7000, 7001, interval{}, false},
		"thawed":                  {[]change{created, froze, thawed}, admitted, 9200, 9201, interval{}, true},
		"thawed, still frozen":    {[]change{created, froze, thawed}, frozen, 9200, 9201, interval{}, false},
		"a long call sees either": {[]change{created, froze, thawed}, frozen, 4000, 9900, interval{}, true},

		"in its grace period":            {[]change{created, graced}, admitted, 13_999, 14_100, interval{}, true},
		"refused in its grace period":    {[]change{created, graced}, refused, 12_000, 13_999, interval{}, false},
		"let in after its grace period":  {[]change{created, graced}, admitted, 14_001, 14_002, interval{}, false},
		"refused after its grace period": {[]change{created, graced}, refused, 14_001, 14_002, interval{}, true},

		"let in by a gateway that is stopped": {
			[]change{created, revoked}, admitted, 20_000, 31_000, interval{at(10_500), time.Time{}}, true,
		},
		"let in by a gateway that goes on": {
			[]change{created, revoked}, admitted, 30_900, 31_000, interval{at(10_500), at(31_000)}, true,
		},
		"let in by a gateway that has caught up": {
			[]change{created, revoked}, admitted, 31_001, 31_002, interval{at(10_500), at(31_000)}, false,
		},
		"let in by a gateway that stopped when it had to know": {
			[]change{created, revoked}, admitted, 20_000, 31_000, interval{at(11_200), at(31_000)}, false,
		},
		"let in a second after a gateway goes on": {
			[]change{created, revoked}, admitted, 11_102, 11_103, interval{at(9000), at(9900)}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			if !tt.lag.from.IsZero() {
				m.lagging["a"] = []interval{{at(100), at(200)}, tt.lag}
			}
			s := &secret{changes: tt.changes}
			if got := m.judge(s, "a", tt.got, at(tt.sent), at(tt.answered)); got != tt.want {
				t.Errorf("judged %v, want %v", got, tt.want)
			}
			if tt.lag.until.IsZero() && !tt.lag.from.IsZero() && m.judge(s, "b", tt.got, at(tt.sent), at(tt.answered)) {
				t.Error("another gateway is excused too")
			}
		})
	}
}
