package projects

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"postern/core/openapi/validate"
)

// waitingFor returns how many wait in a team's turn.
func (p *places) waitingFor(team string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting[team])
}

// fill takes all places that are free.
func (p *places) fill(t *testing.T) (leave func()) {
	t.Helper()
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		var err error
		if leave, err = p.take(t.Context(), "busy"); err != nil {
			t.Fatal(err)
		}
	}
	return leave
}

// await adds one that waits, and returns once it does. It sends the team when it has a place.
func (p *places) await(ctx context.Context, team string, to chan<- string) {
	before := p.waitingFor(team)
	go func() {
		if _, err := p.take(ctx, team); err != nil {
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
	var p places
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
	if p.busy != max(1, runtime.GOMAXPROCS(0)/2)-1 || len(p.turns) != 0 || len(p.waiting) != 0 {
		t.Errorf("%d are busy, and %v wait", p.busy, p.waiting)
	}
}

// Who leaves gives up the turn.
func TestPlaces_leaving(t *testing.T) {
	t.Parallel()
	var p places
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
	if _, err := p.take(ended, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The verdicts that were used last are kept.
func TestDocumentWork_verdicts(t *testing.T) {
	t.Parallel()
	var w documentWork
	sum := func(i int) (out [32]byte) {
		copy(out[:], fmt.Sprint(i))
		return out
	}
	for i := range maxVerdicts {
		w.keep(sum(i), []validate.Unchecked{{At: fmt.Sprint(i)}})
	}
	w.verdict(sum(0))
	w.keep(sum(maxVerdicts), nil)
	for i, want := range map[int]bool{0: true, 1: false, 2: true, maxVerdicts: true} {
		got, known := w.verdict(sum(i))
		if known != want || known && i < maxVerdicts && got[0].At != fmt.Sprint(i) {
			t.Errorf("%d: %v %v", i, got, known)
		}
	}
	if len(w.verdicts) != maxVerdicts || len(w.order) != maxVerdicts {
		t.Errorf("%d verdicts in an order of %d", len(w.verdicts), len(w.order))
	}
}
