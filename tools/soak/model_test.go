package main

import (
	"errors"
	"testing"
	"time"
)

// at is a time on the clock of the cases, in milliseconds.
func at(ms int) time.Time { return time.UnixMilli(int64(ms)) }

func TestAllows(t *testing.T) {
	created := change{to: admitted, from: at(0), until: at(100), known: at(100)}
	froze := change{to: frozen, from: at(5000), until: at(5100), known: at(5100)}
	thawed := change{to: admitted, from: at(8000), until: at(8100), known: at(8100)}
	revoked := change{to: refused, from: at(10_000), until: at(10_100), known: at(10_100)}
	revoking := change{to: refused, from: at(10_000)}
	graced := change{to: refused, from: at(14_000), until: at(14_000), known: at(10_100), grace: true}
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

// TestJudge_clockOff has a secret in a grace period from 10 to 14 seconds called at a gateway whose clock is off.
func TestJudge_clockOff(t *testing.T) {
	s := &secret{changes: []change{
		{to: admitted, from: at(0), until: at(100), known: at(100)},
		{to: refused, from: at(14_000), until: at(14_000), known: at(10_100), grace: true},
	}}
	for name, tt := range map[string]struct {
		ahead time.Duration
		got   verdict
		sent  int
		want  bool
	}{
		"ahead, refused in its grace period":            {2 * time.Second, refused, 12_500, true},
		"ahead, refused before that":                    {2 * time.Second, refused, 11_500, false},
		"ahead, let in after its grace period":          {2 * time.Second, admitted, 15_500, false},
		"behind, refused in its grace period":           {-2 * time.Second, refused, 12_500, false},
		"behind, let in after its grace period":         {-2 * time.Second, admitted, 15_500, true},
		"behind, let in after it by every clock":        {-2 * time.Second, admitted, 17_500, false},
		"behind, and no clock of this gateway any more": {-2 * time.Second, admitted, 21_500, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.clocks["a"] = []clockOff{{interval{at(9000), at(21_000)}, tt.ahead}}
			if got := m.judge(s, "a", tt.got, at(tt.sent), at(tt.sent+1)); got != tt.want {
				t.Errorf("judged %v, want %v", got, tt.want)
			}
			if tt.want && m.judge(s, "b", tt.got, at(tt.sent), at(tt.sent+1)) {
				t.Error("another gateway is excused too")
			}
		})
	}
}

// TestRotated_answerLost: a rotation whose answer was lost may have been carried out when it was sent.
func TestRotated_answerLost(t *testing.T) {
	m, sent := newModel(), time.Now().Add(-time.Minute)
	k := m.add("key_1", "app-1", "secret", sent.Add(-time.Minute), sent.Add(-time.Minute))
	old := k.current
	m.begin(k, refused, sent, 2*time.Second)
	m.rotated(k, apiKey{}, sent, time.Now().Add(2*time.Second))
	for name, tt := range map[string]struct {
		got   verdict
		after time.Duration
		want  bool
	}{
		"refused in its grace period":        {refused, time.Second, false},
		"refused after its grace period":     {refused, 3 * time.Second, true},
		"let in after the earliest end":      {admitted, 3 * time.Second, true},
		"let in after the latest end":        {admitted, time.Minute + 4*time.Second, false},
		"refused, after the latest end":      {refused, time.Minute + 4*time.Second, true},
		"let in before, in its grace period": {admitted, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			at := sent.Add(tt.after)
			if got := m.judge(old, "a", tt.got, at, at.Add(time.Millisecond)); got != tt.want {
				t.Errorf("judged %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCutOff(t *testing.T) {
	created := change{to: admitted, from: at(0), until: at(100), known: at(100)}
	revoked := change{to: refused, from: at(10_000), until: at(10_100), known: at(10_100)}
	failed := errors.New("cut off")
	ended := func(sent, answered, status int, got verdict) answer {
		return answer{sent: at(sent), answered: at(answered), status: status, got: got, failed: failed}
	}
	for name, tt := range map[string]struct {
		a    answer
		want bool
	}{
		"revoked before the answer":      {ended(9900, 10_400, 0, ""), true},
		"HAProxy says so":                {ended(9900, 10_400, 502, cut), true},
		"begun within the second":        {ended(11_000, 11_500, 0, ""), true},
		"begun after it":                 {ended(11_200, 11_700, 0, ""), false},
		"over before it was sent":        {ended(9000, 9500, 0, ""), false},
		"the upstream cannot be reached": {ended(9900, 10_400, 502, "502 upstream_unreachable"), false},
		"got 503":                        {ended(9900, 10_400, 503, "503"), false},
		"answered":                       {answer{sent: at(9900), answered: at(10_400)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &secret{changes: []change{created, revoked}}
			if got := newModel().cutOff(s, tt.a); got != tt.want {
				t.Errorf("judged %v, want %v", got, tt.want)
			}
		})
	}
}
