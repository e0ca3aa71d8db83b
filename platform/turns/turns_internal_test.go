package turns

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// waitingFor returns how many wait in a team's turn.
func (p *Places) waitingFor(team string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting[team])
}

// fill takes all places that are free.
func (p *Places) fill(t *testing.T) (leave func()) {
	t.Helper()
	for range Most() {
		var err error
		if leave, err = p.Take(t.Context(), "busy"); err != nil {
			t.Fatal(err)
		}
	}
	return leave
}

// await adds one that waits, and returns once it does. It sends the team when it has a place.
func (p *Places) await(ctx context.Context, team string, to chan<- string) {
	before := p.waitingFor(team)
	go func() {
		if _, err := p.Take(ctx, team); err != nil {
			team = err.Error()
		}
		to <- team
	}()
	for p.waitingFor(team) == before {
		runtime.Gosched()
	}
}

// Places are given in turn to teams, however many documents one of them has.
func TestPlaces_turns(t *testing.T) {
	t.Parallel()
	var p Places
	leave := p.fill(t)
	got := make(chan string)
	for _, team := range []string{"a", "a", "a", "b", "c", "b"} {
		p.await(t.Context(), team, got)
	}
	for i, want := range []string{"a", "b", "c", "a", "b", "a"} {
		leave()
		if team := <-got; team != want {
			t.Errorf("place %d: %s, want %s", i, team, want)
		}
	}
	leave()
	if p.busy != Most()-1 || len(p.turns) != 0 || len(p.waiting) != 0 {
		t.Errorf("%d are busy, and %v wait", p.busy, p.waiting)
	}
}

// A caller that leaves gives up the turn.
func TestPlaces_leaving(t *testing.T) {
	t.Parallel()
	var p Places
	leave := p.fill(t)
	got := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	p.await(ctx, "a", got)
	p.await(t.Context(), "b", got)
	cancel()
	if said := <-got; said != context.Canceled.Error() {
		t.Errorf("%s, want that the caller has left", said)
	}
	leave()
	if team := <-got; team != "b" {
		t.Errorf("the place goes to %s", team)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Take(ended, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
