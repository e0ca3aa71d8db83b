package models

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// errTurn means that other transactions of this process kept a team's audit chain for too long.
var errTurn = errors.New("models: the audit chain is in use")

// turns lets the transactions of one process take each audit chain one after the other, in the order in which they
// arrive, so that PostgreSQL has at most one of them waiting for it. A process that is frozen then holds up a chain
// once, until the server ends the one transaction, and not once more for each that waited.
type turns struct {
	most  time.Duration // how long a transaction waits for its turn
	awake time.Duration // how often a waiting one shows that it isn't idle; 0 means awakeEvery

	mu sync.Mutex
	of map[string]*turn // by team; only those that are taken
}

// turn is a chain that a transaction has. Waiting transactions are in the order of their arrival: a transaction that
// loses its place each time it shows that it is awake waits until no one else comes.
type turn struct {
	waiting []chan struct{} // closed when it is this one's turn
}

// awakeEvery is how often a waiting transaction shows the server that its process is not frozen: PostgreSQL ends
// transactions that are idle (Deadlines.Idle).
const awakeEvery = 500 * time.Millisecond

// take waits for the turn of a team's chain, calls awake from time to time until then, and returns what ends the turn.
func (s *turns) take(ctx context.Context, team string, awake func() error) (end func(), err error) {
	end = func() { s.pass(team) }
	s.mu.Lock()
	one, taken := s.of[team]
	if !taken {
		if s.of == nil {
			s.of = map[string]*turn{}
		}
		s.of[team] = &turn{}
		s.mu.Unlock()
		return end, nil
	}
	mine := make(chan struct{})
	one.waiting = append(one.waiting, mine)
	s.mu.Unlock()
	if err := s.wait(ctx, mine, awake); err != nil {
		s.leave(team, mine)
		return nil, err
	}
	return end, nil
}

// pass gives the turn to the one that has waited longest.
func (s *turns) pass(team string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of[team]
	if len(one.waiting) == 0 {
		delete(s.of, team)
		return
	}
	close(one.waiting[0])
	one.waiting = one.waiting[1:]
}

// leave gives up a place in the queue, or the turn if it came in the same moment.
func (s *turns) leave(team string, mine chan struct{}) {
	s.mu.Lock()
	one := s.of[team]
	place := slices.Index(one.waiting, mine)
	if place >= 0 {
		one.waiting = slices.Delete(one.waiting, place, place+1)
	}
	s.mu.Unlock()
	if place < 0 {
		s.pass(team)
	}
}

func (s *turns) wait(ctx context.Context, mine <-chan struct{}, awake func() error) error {
	tooLong := time.NewTimer(s.most)
	defer tooLong.Stop()
	show := time.NewTicker(min(cmp.Or(s.awake, awakeEvery), s.most))
	defer show.Stop()
	for {
		select {
		case <-mine:
			return nil
		case <-show.C:
			if err := awake(); err != nil {
				return err
			}
		case <-tooLong.C:
			return errTurn
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// takeTurn keeps other transactions of this process from a team's chain until this one ends.
func (t *Tx) takeTurn(team string) error {
	if t.turns == nil || t.taken[team] != nil {
		return nil
	}
	awake := func() error { return t.db.Exec("SELECT 1").Error }
	end, err := t.turns.take(t.db.Statement.Context, team, awake)
	if err != nil {
		return err
	}
	if t.taken == nil {
		t.taken = map[string]func(){}
	}
	t.taken[team] = end
	return nil
}

// endTurns is called when the transaction has ended.
func (t *Tx) endTurns() {
	for _, end := range t.taken {
		end()
	}
}
