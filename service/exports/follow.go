package exports

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

const (
	// Heartbeat is how often Follow sends an export that hasn't changed.
	Heartbeat = 15 * time.Second

	followEvery  = 500 * time.Millisecond // workers write the progress once a second
	followFor    = time.Minute            // after which the client has to authenticate again
	maxFollowers = 200
)

// Followers counts the readers of Follow in this process, and ends them when the process stops. The readers of one
// export share a poller, which ends with the last of them. It is safe for concurrent use.
type Followers struct {
	once  sync.Once
	ended chan struct{}

	mu      sync.Mutex
	count   int
	pollers map[string]*poller // by the id of their export
}

// poller reads an export for its followers. Its fields are guarded by Followers.mu.
type poller struct {
	followers int
	stop      context.CancelFunc
	read      chan struct{} // closed after the next read
	last      position
}

// position is an export as a poller has read it.
type position struct {
	row     models.Export
	project models.Project
	err     error
}

// NewFollowers returns Followers without readers.
func NewFollowers() *Followers {
	return &Followers{ended: make(chan struct{}), pollers: map[string]*poller{}}
}

// End ends all readers, including later ones.
func (f *Followers) End() { f.once.Do(func() { close(f.ended) }) }

// join adds a follower of an export, and starts its poller for the first one. It returns false
// if there are too many. A follower that joined has to leave. The channel is closed after the next
// read.
func (f *Followers) join(
	id string, every time.Duration, read func(context.Context) position,
) (*poller, <-chan struct{}, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count >= maxFollowers {
		return nil, nil, false
	}
	f.count++
	p := f.pollers[id]
	if p == nil {
		ctx, stop := context.WithCancel(context.Background())
		p = &poller{stop: stop, read: make(chan struct{})}
		f.pollers[id] = p
		go f.poll(ctx, id, p, every, read)
	}
	p.followers++
	return p, p.read, true
}

func (f *Followers) leave(id string, p *poller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count--
	if p.followers--; p.followers == 0 {
		f.retire(id, p)
	}
}

// retire ends a poller. A follower that comes later gets another.
func (f *Followers) retire(id string, p *poller) {
	p.stop()
	if f.pollers[id] == p {
		delete(f.pollers, id)
	}
}

// at returns the result of a poller's last read, and a channel that is closed after its next read.
func (f *Followers) at(p *poller) (position, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return p.last, p.read
}

// poll reads an export until it is finished or cannot be read, or until the context ends.
func (f *Followers) poll(
	ctx context.Context, id string, p *poller, every time.Duration, read func(context.Context) position,
) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := read(ctx)
		f.mu.Lock()
		if ctx.Err() != nil {
			f.mu.Unlock()
			return
		}
		last := now.err != nil || !unfinished(now.row.State)
		if last {
			f.retire(id, p)
		}
		p.last = now
		close(p.read)
		p.read = make(chan struct{})
		f.mu.Unlock()
		if last {
			return
		}
	}
}

func unfinished(state string) bool {
	return state == contract.ExportQueued || state == contract.ExportBuilding
}

// Follow calls send with the current export, after each change, and every Heartbeat. It returns nil once it has sent
// the export in a final state. It also ends with ctx, with the process, after a minute, or with the error of send. It
// checks access only with the principal's rights at the start; the caller ends ctx when the principal loses them
// (MayRead). It returns TooMany if there are too many readers.
//
// It reads the database, because a worker of any replica may build the export.
func (s *Service) Follow(
	ctx context.Context, p access.Principal, in contract.ExportPath, send func(contract.Export) error,
) error {
	id := in.Export
	ctx, stop := context.WithTimeout(ctx, followFor)
	defer stop()
	e, err := s.Get(ctx, p, in)
	if err != nil {
		return fmt.Errorf("exports: follow %s: %w", id, err)
	}
	if !unfinished(e.State) {
		return send(e)
	}
	read := func(ctx context.Context) position { return s.position(ctx, id) }
	from, next, ok := s.Followers.join(id, followEvery, read)
	if !ok {
		return fault.New(fault.TooMany, "too_many_followers", "Too many clients are following exports (%d). Try "+
			"again later.", maxFollowers)
	}
	defer s.Followers.leave(id, from)
	var last contract.Export
	var sentAt time.Time
	for {
		if moved(e, last) || time.Since(sentAt) >= Heartbeat {
			if err := send(e); err != nil {
				return err
			}
			last, sentAt = e, time.Now()
		}
		if !unfinished(e.State) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.Followers.ended:
			return nil
		case <-next:
		}
		var now position
		now, next = s.Followers.at(from)
		if now.err == nil {
			now.err = access.CheckProject(p, now.project, access.ExportRead)
		}
		if now.err != nil {
			return fmt.Errorf("exports: follow %s: %w", id, now.err)
		}
		email := e.RequestedBy.Email
		e = s.shown(now.row, now.project.Name)
		e.RequestedBy.Email = email
	}
}

// MayRead returns an error if the principal may not read the export.
func (s *Service) MayRead(ctx context.Context, p access.Principal, in contract.ExportPath) error {
	if _, _, err := s.find(s.DB.Read(ctx), p, in.Export, access.ExportRead); err != nil {
		return fmt.Errorf("exports: follow %s: %w", in.Export, err)
	}
	return nil
}

// position reads an export for its followers, each of which checks that it may.
func (s *Service) position(ctx context.Context, id string) (now position) {
	tx := s.DB.Read(ctx)
	if now.row, now.err = tx.ExportByID(id); now.err == nil {
		now.project, now.err = tx.ProjectByID(now.row.ProjectID)
	}
	if errors.Is(now.err, models.ErrNotFound) {
		now.err = access.NotFound()
	}
	return now
}

// moved reports whether an export is at another point than before.
func moved(e, before contract.Export) bool {
	return e.State != before.State || e.Progress != before.Progress
}
