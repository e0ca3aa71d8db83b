package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"postern/core/snapshot"
	"postern/gateway/engine"
)

// The memory of a body that is read completely is held within both budgets, and released afterward.
func FuzzReadWhole(f *testing.F) {
	f.Add(uint32(0), uint32(10), uint32(100), uint32(100), false)
	f.Add(uint32(20_000), uint32(1<<20), uint32(40_000), uint32(1<<30), true)
	f.Add(uint32(70_000), uint32(200_000), uint32(1<<30), uint32(1<<30), false)
	f.Add(uint32(70_000), uint32(50_000), uint32(1<<30), uint32(60_000), false)
	f.Fuzz(func(t *testing.T, size, limit, process, project uint32, byteByByte bool) {
		size, limit = size%(1<<18), limit%(1<<18)+1
		sent := bytes.Repeat([]byte("x"), int(size))
		var from io.Reader = bytes.NewReader(sent)
		if byteByByte && size < 1<<12 {
			from = iotest.OneByteReader(from)
		}
		all, own := newBodyMemory(int64(process), sharesOfProcess), newBodyMemory(int64(project), sharesOfTeam)
		hold := &bodyHold{process: all, team: own}
		body, err := readWhole(from, int64(limit), hold)
		held, most := hold.bytes.Load(), min(all.ofOne, own.ofOne)
		if room := max(firstRead, int64(len(body))/4); int64(cap(body)) > int64(len(body))+room {
			t.Errorf("there is room for %d bytes, and %d arrived", cap(body), len(body))
		}
		if held != int64(cap(body)) || held > most || held != all.inUse() || held != own.inUse() {
			t.Errorf("%d bytes are held of a body with room for %d, %d and %d in all, of %d and %d", held, cap(body),
				all.inUse(), own.inUse(), process, project)
		}
		want := sent[:min(size, limit)]
		switch {
		case errors.Is(err, errNoMemory):
			if !bytes.HasPrefix(want, body) || held+hold.missing.Load() <= most {
				t.Errorf("there was room for %d bytes more", hold.missing.Load())
			}
		case err != nil || !bytes.Equal(body, want):
			t.Errorf("%d bytes and %v, want %d", len(body), err, len(want))
		}
		hold.release()
		hold.release()
		if all.inUse() != 0 || own.inUse() != 0 || len(all.callers) > 0 {
			t.Errorf("%d and %d bytes are still held", all.inUse(), own.inUse())
		}
	})
}

// One address has a share of each budget.
func TestBodyHold_shares(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	address := netip.MustParsePrefix
	one, other := address("192.0.2.1/32"), address("2001:db8::/64")
	most, eighth := map[netip.Prefix]int64{one: 7 * mb}, map[netip.Prefix]int64{other: 8 * mb}
	for name, tc := range map[string]struct {
		process, team int64
		taken         map[netip.Prefix]int64 // before, by calls to another team
		own           int64                  // before, by calls of one to the same team
		take          int64                  // by one
		want, share   bool
	}{
		"a quarter of the team's":           {1 << 40, 64 * mb, nil, 15 * mb, mb, true, false},
		"more than a quarter of the team's": {1 << 40, 64 * mb, nil, 15 * mb, mb + 1, false, true},
		"an eighth of the process's":        {64 * mb, 1 << 40, most, 0, mb, true, false},
		"more than an eighth of it":         {64 * mb, 1 << 40, most, mb, 1, false, true},
		"others have theirs":                {64 * mb, 64 * mb, eighth, 0, 8 * mb, true, false},
		"room for one large body":           {8 * mb, 8 * mb, nil, 3 * mb, mb, true, false},
		"all of a small budget":             {mb, mb, nil, 0, mb, true, false},
		"more than a small budget":          {mb, mb, nil, 0, mb + 1, false, false},
	} {
		process, team := newBodyMemory(tc.process, sharesOfProcess), newBodyMemory(tc.team, sharesOfTeam)
		for network, bytes := range tc.taken {
			if taken, _ := process.take(network, bytes); !taken {
				t.Fatalf("%s: %s has no room", name, network)
			}
		}
		hold := &bodyHold{process: process, team: team, network: one}
		if !hold.take(tc.own) {
			t.Fatalf("%s: no room before", name)
		}
		before := process.inUse()
		if got := hold.take(tc.take); got != tc.want || hold.share.Load() != tc.share {
			t.Errorf("%s: %v, because of its address: %v", name, got, hold.share.Load())
		} else if !got && process.inUse() != before {
			t.Errorf("%s: %d bytes stay held", name, process.inUse()-before)
		}
	}
}

// Projects of one team share one budget, which those of an unclaimed workspace don't get once it is claimed.
func TestBodiesOfProject(t *testing.T) {
	t.Parallel()
	soon, caps := time.Now(), &Caps{}
	claimed := snapshot.Project{ID: "prj_a", TeamID: "team_a"}
	for name, tc := range map[string]struct {
		other snapshot.Project
		same  bool
	}{
		"the same team":   {snapshot.Project{ID: "prj_b", TeamID: "team_a"}, true},
		"another team":    {snapshot.Project{ID: "prj_b", TeamID: "team_b"}, false},
		"not yet claimed": {snapshot.Project{ID: "prj_a", TeamID: "team_a", ExpiresAt: soon}, false},
	} {
		if got := bodiesOfProject(&claimed, caps) == bodiesOfProject(&tc.other, caps); got != tc.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// dripping sends some bytes at once, and one after each pause, until the deadline.
type dripping struct {
	http.ResponseWriter

	first    int
	pause    time.Duration
	deadline time.Time
}

func (d *dripping) SetReadDeadline(at time.Time) error {
	d.deadline = at
	return nil
}

func (d *dripping) Read(p []byte) (int, error) {
	if d.first > 0 {
		n := min(len(p), d.first)
		d.first -= n
		return n, nil
	}
	left := time.Until(d.deadline)
	if time.Sleep(min(d.pause, left)); left <= d.pause {
		return 0, os.ErrDeadlineExceeded
	}
	return 1, nil
}

// No one holds memory for longer than the body would take at the lowest rate.
func TestRequestBody_readWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first int
		pause time.Duration
		most  time.Duration
	}{
		"nothing":           {0, time.Hour, 10 * time.Second},
		"silence":           {600_000, time.Hour, 19 * time.Second},
		"byte by byte":      {600_000, 5 * time.Second, 19 * time.Second},
		"many bytes slowly": {0, 10 * time.Millisecond, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from := &dripping{ResponseWriter: httptest.NewRecorder(), first: tc.first, pause: tc.pause}
				b := newRequestBody(from, httptest.NewRequestWithContext(t.Context(), "POST", "/", from),
					&engine.Limits{Idle: time.Minute, BodyRate: 240, BodyGrace: 10 * time.Second}, 0, nil)
				hold := &bodyHold{process: newBodyMemory(1<<30, 1), team: newBodyMemory(1<<30, 1)}
				began := time.Now()
				_, err := b.readWhole(1<<20, hold)
				if took := time.Since(began); !errors.Is(err, errBodyTooSlow) || took > tc.most {
					t.Errorf("%v after %s, want it to be too slow after %s", err, took, tc.most)
				}
			})
		})
	}
}
