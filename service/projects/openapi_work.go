package projects

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"postern/core/openapi"
	"postern/core/openapi/validate"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// documentWork is the work on OpenAPI documents: few at a time, and what is known of the last ones. Its zero value is
// ready for use.
type documentWork struct {
	places places

	mu       sync.Mutex
	verdicts map[[32]byte][]validate.Unchecked
	order    [][32]byte // of verdicts, the one that was used last at the end
}

// maxVerdicts bounds the documents whose verdict is kept: each has at most 200 entries.
const maxVerdicts = 500

// verdict returns what of a document requests are not checked against, if it is known.
func (w *documentWork) verdict(sum [32]byte) ([]validate.Unchecked, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	unchecked, known := w.verdicts[sum]
	if known {
		at := slices.Index(w.order, sum)
		w.order = append(slices.Delete(w.order, at, at+1), sum)
	}
	return unchecked, known
}

func (w *documentWork) keep(sum [32]byte, unchecked []validate.Unchecked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.verdicts == nil {
		w.verdicts = map[[32]byte][]validate.Unchecked{}
	}
	if _, known := w.verdicts[sum]; known {
		return
	}
	if len(w.order) == maxVerdicts {
		delete(w.verdicts, w.order[0])
		w.order = slices.Delete(w.order, 0, 1)
	}
	w.verdicts[sum], w.order = unchecked, append(w.order, sum)
}

// unchecked returns what of the document of a version requests are not checked against, and the document's sum; nothing
// without a document. It belongs before a transaction.
func (s *Service) unchecked(
	ctx context.Context, p access.Principal, version string,
) (found []validate.Unchecked, sum []byte, err error) {
	tx := s.DB.Read(ctx)
	row, err := tx.OpenAPISummaryOf(version)
	if errors.Is(err, models.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if known, there := s.documents.verdict([32]byte(row.SHA256)); there {
		return known, row.SHA256, nil
	}
	if row, err = tx.OpenAPIOf(version); err != nil {
		return nil, nil, err
	}
	leave, err := s.documents.places.take(ctx, documentTeam(p))
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	compiled, err := validate.CompileJSON(openapi.NewBudget(ctx, openapi.Size), row.Document)
	if err != nil {
		return nil, nil, err
	}
	s.documents.keep([32]byte(row.SHA256), compiled.Unchecked())
	return compiled.Unchecked(), row.SHA256, nil
}

// documentTeam returns the team in whose turn a principal's documents are read: all unclaimed workspaces are one.
func documentTeam(p access.Principal) string {
	if unclaimed(p) {
		return ""
	}
	return p.HomeTeam
}

// How long a request waits for a place, and after how long it should come again if it gets none.
const (
	placeWithin = 10 * time.Second
	placeAgain  = 5 * time.Second
)

// places lets half as many goroutines work on documents at a time as the process has threads, at least one. Those that
// wait get their places in turn by team. Its zero value is ready for use.
type places struct {
	within time.Duration // that a request waits; 0: placeWithin

	mu      sync.Mutex
	busy    int
	turns   []string                   // teams that wait, the next one first
	waiting map[string][]chan struct{} // by team, the next one first
}

// take returns when there is a place, which leave gives up. Its error is Unavailable with the code busy if there is
// none in time, and that of the context if the caller leaves.
func (p *places) take(ctx context.Context, team string) (leave func(), err error) {
	p.mu.Lock()
	if p.busy < max(1, runtime.GOMAXPROCS(0)/2) {
		p.busy++
		p.mu.Unlock()
		return p.leave, nil
	}
	turn := make(chan struct{})
	if p.waiting == nil {
		p.waiting = map[string][]chan struct{}{}
	}
	if len(p.waiting[team]) == 0 {
		p.turns = append(p.turns, team)
	}
	p.waiting[team] = append(p.waiting[team], turn)
	p.mu.Unlock()
	timed, stop := context.WithTimeout(ctx, cmp.Or(p.within, placeWithin))
	defer stop()
	select {
	case <-turn:
		return p.leave, nil
	case <-timed.Done():
	}
	if !p.giveUp(team, turn) {
		return p.leave, nil // it has got its place at the same time
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fault.New(fault.Unavailable, "busy", "Too many OpenAPI documents are being read. Try again in a few "+
		"seconds.").After(placeAgain)
}

// giveUp removes one that waits. It returns false if it has got a place.
func (p *places) giveUp(team string, turn chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.waiting[team], turn)
	if at < 0 {
		return false
	}
	p.waiting[team] = slices.Delete(p.waiting[team], at, at+1)
	if len(p.waiting[team]) == 0 {
		delete(p.waiting, team)
		p.turns = slices.DeleteFunc(p.turns, func(one string) bool { return one == team })
	}
	return true
}

// leave hands a place to the next one of the next team.
func (p *places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.turns) == 0 {
		p.busy--
		return
	}
	team := p.turns[0]
	p.turns = slices.Delete(p.turns, 0, 1)
	next := p.waiting[team][0]
	if p.waiting[team] = slices.Delete(p.waiting[team], 0, 1); len(p.waiting[team]) > 0 {
		p.turns = append(p.turns, team)
	} else {
		delete(p.waiting, team)
	}
	close(next)
}
