package usage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

const (
	// Heartbeat is how often Follow sends an empty batch when there are no calls.
	Heartbeat = 15 * time.Second

	pollEvery = 200 * time.Millisecond // readers poll, so that calls need not wake them
	batch     = 200                    // the most requests that are sent at a time
	followFor = 10 * time.Minute       // after which the client has to authenticate again
)

// Requests lists a project's latest calls through this process, newest first.
// If the cursor's request is no longer in the log, it returns the first page.
func (s *Service) Requests(
	ctx context.Context, p access.Principal, in contract.RequestList,
) (contract.Requests, error) {
	none := contract.Requests{List: contract.List[contract.Request]{Items: []contract.Request{}}}
	filter := requestFilter(in.RequestFilter)
	if err := filter.check(); err != nil {
		return none, err
	}
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, in.Project, access.UsageRead)
	if err != nil {
		return none, fmt.Errorf("usage: requests of %s: %w", in.Project, err)
	}
	if in.Cursor != "" && !isRequest(in.Cursor) {
		return none, models.ErrCursor
	}
	none.NoGateway = s.NoGateway
	r := s.Recorder.ring(parent.ID)
	if r == nil {
		return none, nil
	}
	before, ok := r.number(in.Cursor)
	if !ok || before == 0 {
		before = math.MaxUint64
	}
	page := models.PageOf(in.Page, "", "")
	found := models.Cut(filter.before(r, before, page.Size()+1), page,
		func(one entry) string { return r.id(one.number) })
	items, err := s.named(tx, parent.ID, r, found.Items)
	if err != nil {
		return none, err
	}
	return contract.Requests{
		List:      contract.List[contract.Request]{Items: items, NextCursor: contract.OrNull(found.Next)},
		Dropped:   r.dropped.Load(),
		NoGateway: s.NoGateway,
	}, nil
}

// Batch holds the requests since the batch before. Missed is the number of requests that
// the reader was too slow for.
type Batch struct {
	Requests []contract.Request
	Missed   uint64
}

// MayFollow returns the id of a project whose calls the principal may follow, and refuses others.
func (s *Service) MayFollow(ctx context.Context, p access.Principal, project string) (id string, err error) {
	parent, err := access.Project(s.DB.Read(ctx), p, project, access.UsageRead)
	if err != nil {
		return "", fmt.Errorf("usage: follow %s: %w", project, err)
	}
	return parent.ID, nil
}

// Follow calls send with the requests of a project after the one with the id after, or with new
// requests if that is "". It sends an empty batch if there are none for a Heartbeat. An
// id that is not in the log starts with the oldest request. Follow ends with ctx, with
// the process, after ten minutes, or with the error of send. A slow send delays no other
// reader. Too many readers are refused as TooMany. The caller ends ctx when the principal loses its right (MayFollow).
func (s *Service) Follow(
	ctx context.Context, p access.Principal, in contract.RequestList, after string, send func(Batch) error,
) error {
	filter := requestFilter(in.RequestFilter)
	if err := filter.check(); err != nil {
		return err
	}
	id, err := s.MayFollow(ctx, p, in.Project)
	if err != nil {
		return err
	}
	live := s.Recorder.live
	leave, ok := live.join(id)
	if !ok {
		return fault.New(fault.TooMany, "too_many_followers", "Too many clients are following this live log (%d). Try "+
			"again later.", maxFollowers)
	}
	defer leave()
	f := follower{service: s, tx: s.DB.Read(ctx), project: id, filter: filter, after: after}
	if r := s.Recorder.ring(id); after == "" && r != nil {
		f.after = r.id(r.newest())
	}
	return f.run(ctx, live.ended, send)
}

type follower struct {
	service *Service
	tx      *models.Tx
	project string
	filter  requestFilter
	after   string // id of the last request that was looked at
}

func (f *follower) run(ctx context.Context, ended <-chan struct{}, send func(Batch) error) error {
	ctx, cancel := context.WithTimeout(ctx, followFor)
	defer cancel()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	if err := send(Batch{}); err != nil { // tells the reader that it is connected
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
		if len(next.Requests) == 0 && next.Missed == 0 && time.Since(sentAt) < Heartbeat {
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
		missed = 0 // they were in no log that this reader has read
	}
	if len(found) == 0 {
		return Batch{}, nil
	}
	f.after = r.id(found[len(found)-1].number)
	found = slices.DeleteFunc(found, func(e entry) bool { return !f.filter.matches(&e.call) })
	if len(found) == 0 {
		return Batch{Missed: missed}, nil
	}
	requests, err := f.service.named(f.tx, f.project, r, found)
	return Batch{requests, missed}, err
}

// named returns the entries with their ids and the names of their environments.
func (s *Service) named(tx *models.Tx, project string, r *ring, found []entry) ([]contract.Request, error) {
	places, err := placesOf(tx, project)
	if err != nil {
		return nil, fmt.Errorf("usage: name the environments of %s: %w", project, err)
	}
	list := make([]contract.Request, len(found))
	for i := range found {
		list[i] = shown(&found[i].call)
		place := places.of(found[i].call.EnvironmentID)
		list[i].ID, list[i].Version, list[i].Environment = r.id(found[i].number), place.Version, place.Name
	}
	return list, nil
}

// shown returns a call without its id and the names of its environment.
func shown(c *Call) contract.Request {
	return contract.Request{
		Time:          c.Start.UTC(),
		DurationMS:    contract.MillisecondsOf(c.Duration),
		FirstByteMS:   contract.OrNull(contract.MillisecondsOf(c.FirstByte)),
		Method:        c.Method,
		Path:          policy.MaskKeys(c.Path),
		Route:         c.Route,
		Status:        c.Status,
		Code:          contract.OrNull(c.Code),
		Step:          c.Step,
		Tries:         c.Tries,
		Target:        contract.OrNull(c.Target),
		Owner:         contract.OrNull(c.Owner),
		Key:           contract.OrNull(c.CredentialID),
		RemoteIP:      c.RemoteIP,
		Host:          contract.OrNull(c.Host),
		Ownership:     contract.OrNull(c.Ownership()),
		BytesIn:       c.BytesIn,
		BytesOut:      c.BytesOut,
		EnvironmentID: c.EnvironmentID,
		ShadowCode:    c.ShadowCode,
		Invalid:       c.InvalidWhy,
	}
}

// places are a project's environments by their ids.
type places map[string]contract.UsageEnvironment

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
		out[e.ID] = contract.UsageEnvironment{ID: e.ID, Name: e.Name, Version: names[e.VersionID]}
	}
	return out, nil
}

// of returns an environment. Its name is the id if it was deleted.
func (p places) of(id string) contract.UsageEnvironment {
	if place, ok := p[id]; ok {
		return place
	}
	return contract.UsageEnvironment{ID: id, Name: id}
}
