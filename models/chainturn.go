package models

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errTurn means that other transactions of this process kept a team's audit chain for too long.
var errTurn = errors.New("models: the audit chain is in use")

// turns lets the transactions of one process take each audit chain one after the other, so that PostgreSQL has at most
// one of them waiting for it. A process that is frozen then holds up a chain once, until the server ends the one
// transaction, and not once more for each that waited.
type turns struct {
	most time.Duration // how long a transaction waits for its turn

	mu sync.Mutex
	of map[string]*turn // by team
}

type turn struct {
	free  chan struct{} // holds a value while no transaction has the turn
	users int           // that have it or wait for it
}

// awakeEvery is how often a waiting transaction shows the server that its process is not frozen: PostgreSQL ends
// transactions that are idle (Deadlines.Idle).
const awakeEvery = 500 * time.Millisecond

// take waits for the turn of a team's chain, calls awake from time to time until then, and returns what ends the turn.
func (s *turns) take(ctx context.Context, team string, awake func() error) (end func(), err error) {
	s.mu.Lock()
	one := s.of[team]
	if one == nil {
		one = &turn{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		if s.of == nil {
			s.of = map[string]*turn{}
		}
		s.of[team] = one
	}
	one.users++
	s.mu.Unlock()
	if err := one.wait(ctx, s.most, awake); err != nil {
		s.leave(team, one)
		return nil, err
	}
	return func() {
		one.free <- struct{}{}
		s.leave(team, one)
	}, nil
}

func (s *turns) leave(team string, one *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(s.of, team)
	}
}

func (t *turn) wait(ctx context.Context, most time.Duration, awake func() error) error {
	select {
	case <-t.free:
		return nil
	default:
	}
	tooLong := time.NewTimer(most)
	defer tooLong.Stop()
	show := time.NewTicker(min(awakeEvery, most))
	defer show.Stop()
	for {
		select {
		case <-t.free:
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
