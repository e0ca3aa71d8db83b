package usage

import (
	"context"
	"fmt"
	"math"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// How the live log is followed. Whoever follows is asked again for his
// credential when followFor is over.
const (
	pollEvery = 200 * time.Millisecond // calls are not burdened with waking readers
	batch     = 200
	Heartbeat = 15 * time.Second
	followFor = 10 * time.Minute
)

// Request is a call in the live log.
type Request struct {
	ID          string // within the log of one process
	Version     string // name
	Environment string // name, or its id when it is gone
	Call
}

// Requests is a part of a project's live log. Dropped counts the calls since
// the log of this process began that it could not take.
type Requests struct {
	models.List[Request]
	Dropped int64
}

// Requests lists a project's latest calls through this process, newest first.
// If the cursor's request is no longer in the log, it returns the first page.
func (s *Service) Requests(
	ctx context.Context, p access.Principal, project string, page models.Page,
) (Requests, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return Requests{}, fmt.Errorf("usage: requests of %s: %w", project, err)
	}
	r := s.Recorder.ring(parent.ID)
	if r == nil {
		return Requests{}, nil
	}
	before, ok := r.number(page.Cursor)
	if !ok || before == 0 {
		before = math.MaxUint64
	}
	found := models.Cut(r.before(before, page.Size()+1), page, func(one entry) string { return r.id(one.number) })
	items, err := s.named(tx, parent.ID, r, found.Items)
	if err != nil {
		return Requests{}, err
	}
	return Requests{List: models.List[Request]{Items: items, Next: found.Next}, Dropped: r.dropped.Load()}, nil
}

// Batch is what has come since the batch before. Missed counts the requests that
// the reader was too slow for.
type Batch struct {
	Requests []Request
	Missed   uint64
}

// Follow calls send with the requests that come after the one with the id, after
// now when that is "", and with an empty batch when nothing has come for a
// Heartbeat. An id that the log does not know starts with the oldest request
// that it holds. Follow ends when the context or the process does, after ten
// minutes, or with the error of send; a slow send delays nobody else.
func (s *Service) Follow(ctx context.Context, p access.Principal, project, after string, send func(Batch) error) error {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return fmt.Errorf("usage: follow %s: %w", project, err)
	}
	book := s.Recorder.book
	leave, ok := book.join(parent.ID)
	if !ok {
		return fault.New(fault.TooMany, "too_many_followers", "%d readers follow this project already.", maxFollowers)
	}
	defer leave()
	f := follower{service: s, tx: tx, project: parent.ID, after: after}
	if r := s.Recorder.ring(parent.ID); after == "" && r != nil {
		f.after = r.id(r.newest())
	}
	return f.run(ctx, book.ended, send)
}

type follower struct {
	service *Service
	tx      *models.Tx
	project string
	after   string // id of the last request that was sent
}

func (f *follower) run(ctx context.Context, ended <-chan struct{}, send func(Batch) error) error {
	ctx, cancel := context.WithTimeout(ctx, followFor)
	defer cancel()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	if err := send(Batch{}); err != nil { // so that the reader knows he is connected
		return err
	}
	sentAt := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			return nil
		case <-poll.C:
		}
		next, err := f.next()
		if err != nil {
			return err
		}
		if len(next.Requests) == 0 && time.Since(sentAt) < Heartbeat {
			continue
		}
		if err := send(next); err != nil {
			return err
		}
		sentAt = time.Now()
	}
}

func (f *follower) next() (Batch, error) {
	r := f.service.Recorder.ring(f.project)
	if r == nil {
		return Batch{}, nil
	}
	number, known := r.number(f.after)
	if newest := r.newest(); number > newest {
		number = newest
	}
	found, missed := r.after(number, batch)
	if !known {
		missed = 0 // they were of no log that this reader has seen
	}
	if len(found) == 0 {
		return Batch{}, nil
	}
	f.after = r.id(found[len(found)-1].number)
	requests, err := f.service.named(f.tx, f.project, r, found)
	return Batch{requests, missed}, err
}

// named gives each entry its id and the names of where it went.
func (s *Service) named(tx *models.Tx, project string, r *ring, found []entry) ([]Request, error) {
	places, err := placesOf(tx, project)
	if err != nil {
		return nil, fmt.Errorf("usage: name the environments of %s: %w", project, err)
	}
	list := make([]Request, 0, len(found))
	for _, e := range found {
		place := places.of(e.call.EnvironmentID)
		e.call.Path = policy.MaskKeys(e.call.Path) // e is a copy
		list = append(list, Request{ID: r.id(e.number), Version: place.Version, Environment: place.Name, Call: e.call})
	}
	return list, nil
}

// Place is an environment by its names. Of one that is gone, Name is the id.
type Place struct{ ID, Name, Version string }

type places map[string]Place

func placesOf(tx *models.Tx, project string) (places, error) {
	versions, err := tx.VersionsOf(project)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, v := range versions {
		names[v.ID] = v.Name
	}
	environments, err := tx.EnvironmentsOf(project)
	if err != nil {
		return nil, err
	}
	out := places{}
	for _, e := range environments {
		out[e.ID] = Place{e.ID, e.Name, names[e.VersionID]}
	}
	return out, nil
}

func (p places) of(id string) Place {
	if place, ok := p[id]; ok {
		return place
	}
	return Place{ID: id, Name: id}
}
