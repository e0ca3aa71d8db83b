package models

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"postern/testkit"
)

// waits returns how many transactions wait for the turn of a team, and whether one has it.
func (s *turns) waits(team string) (n int, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, taken := s.of[team]
	if !taken {
		return 0, false
	}
	return len(one.waiting), true
}

func stayAwake() error { return nil }

// TestTurns_order has transactions wait long enough to show that they are awake, which must not cost them their place.
func TestTurns_order(t *testing.T) {
	const all = 10
	s := &turns{most: time.Hour, awake: time.Millisecond}
	end, err := s.take(t.Context(), "team", stayAwake)
	if err != nil {
		t.Fatal(err)
	}
	var shown [all]atomic.Int64
	order := make(chan int, all)
	for n := range all {
		go func() {
			end, err := s.take(t.Context(), "team", func() error {
				shown[n].Add(1)
				return nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			order <- n
			end()
		}()
		testkit.Eventually(t, "it waits", func() bool {
			waiting, _ := s.waits("team")
			return waiting == n+1
		})
	}
	for n := range all {
		before := shown[n].Load()
		testkit.Eventually(t, "it shows that it is awake", func() bool { return shown[n].Load() > before })
	}
	end()
	var got []int
	for range all {
		got = append(got, <-order)
	}
	if !slices.IsSorted(got) {
		t.Errorf("the turn went to %v, want it in the order of their arrival", got)
	}
	testkit.Eventually(t, "no one has the turn", func() bool {
		_, taken := s.waits("team")
		return !taken
	})
}

// TestTurns_disconnect ends waiting in each way, which must leave neither a place in the queue nor the turn behind.
func TestTurns_disconnect(t *testing.T) {
	broken := errors.New("the connection is broken")
	for name, tt := range map[string]struct {
		most  time.Duration
		shows time.Duration
		awake func() error
		ctx   func(context.Context) context.Context
		want  error
	}{
		"too long":       {time.Millisecond, 0, stayAwake, nil, errTurn},
		"not awake":      {time.Hour, time.Millisecond, func() error { return broken }, nil, broken},
		"caller is gone": {time.Hour, 0, stayAwake, ended, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			s := &turns{most: tt.most, awake: tt.shows}
			end, err := s.take(t.Context(), "team", stayAwake)
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if tt.ctx != nil {
				ctx = tt.ctx(ctx)
			}
			if _, err := s.take(ctx, "team", tt.awake); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if n, _ := s.waits("team"); n != 0 {
				t.Errorf("%d still wait", n)
			}
			end()
			if _, taken := s.waits("team"); taken {
				t.Error("someone still has the turn")
			}
		})
	}
	t.Run("in the moment of its turn", func(t *testing.T) {
		s := &turns{of: map[string]*turn{"team": {}}} // it was given the turn, and is no longer in the queue
		s.leave("team", make(chan struct{}))
		if _, taken := s.waits("team"); taken {
			t.Error("the turn is lost")
		}
	})
}

func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
