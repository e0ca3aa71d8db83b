// Package turns lets few goroutines work on something at a time. They take turns by the customer that they work for, so
// that no customer is delayed by how much work another one brings.
//
// It does not know what the work is; see service/projects and gateway, which read and compile documents.
package turns

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Within is how long Take waits for a place, unless Places says otherwise.
const Within = 10 * time.Second

// ErrBusy is the error of Take if no place becomes free in time.
var ErrBusy = errors.New("turns: no slot became free in time")

// Places are as many places as the half of the process's threads, at least one. The zero value is ready for use.
type Places struct {
	Within time.Duration // that Take waits; 0: Within

	mu      sync.Mutex
	busy    int
	turns   []string                   // whose work waits, the next one first
	waiting map[string][]chan struct{} // by whose work it is, the next one first
}

// Most returns how many places there are.
func Most() int { return max(1, threads()/2) }

// Take waits for a place, which leave gives up. Its error is ErrBusy if there is none in time, and that of the context
// if the caller leaves.
func (p *Places) Take(ctx context.Context, whose string) (leave func(), err error) {
	p.mu.Lock()
	if p.busy < Most() {
		p.busy++
		p.mu.Unlock()
		return p.leave, nil
	}
	turn := make(chan struct{})
	if p.waiting == nil {
		p.waiting = map[string][]chan struct{}{}
	}
	if len(p.waiting[whose]) == 0 {
		p.turns = append(p.turns, whose)
	}
	p.waiting[whose] = append(p.waiting[whose], turn)
	p.mu.Unlock()
	timed, stop := context.WithTimeout(ctx, cmp.Or(p.Within, Within))
	defer stop()
	select {
	case <-turn:
		return p.leave, nil
	case <-timed.Done():
	}
	if !p.giveUp(whose, turn) {
		return p.leave, nil // it has got its place at the same time
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, ErrBusy
}

// giveUp removes one that waits. It returns false if it has got a place.
func (p *Places) giveUp(whose string, turn chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.waiting[whose], turn)
	if at < 0 {
		return false
	}
	p.waiting[whose] = slices.Delete(p.waiting[whose], at, at+1)
	if len(p.waiting[whose]) == 0 {
		delete(p.waiting, whose)
		p.turns = slices.DeleteFunc(p.turns, func(one string) bool { return one == whose })
	}
	return true
}

// leave hands a place to the next one in turn.
func (p *Places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.turns) == 0 {
		p.busy--
		return
	}
	whose := p.turns[0]
	p.turns = slices.Delete(p.turns, 0, 1)
	next := p.waiting[whose][0]
	if p.waiting[whose] = slices.Delete(p.waiting[whose], 0, 1); len(p.waiting[whose]) > 0 {
		p.turns = append(p.turns, whose)
	} else {
		delete(p.waiting, whose)
	}
	close(next)
}
