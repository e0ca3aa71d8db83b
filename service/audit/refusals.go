package audit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/service/access"
)

// The numbers of refusals that are written per minute: perSource for one caller (one IPv4 address, or one IPv6 network
// of 64 bits, the size that a household gets), and perMinute for all callers together. Further refusals are only
// counted, and one entry reports their number.
const (
	perSource = 20
	perMinute = 300
)

// writeWithin bounds how long a refused caller's entry may take.
const writeWithin = 5 * time.Second

// Refusals records refused requests. It uses its own transaction, because a refused request doesn't commit one.
type Refusals struct {
	DB        *models.DB
	Log       *slog.Logger
	PerSource int              // 0 means perSource
	PerMinute int              // 0 means perMinute
	Now       func() time.Time // nil means models.Now

	mu      sync.Mutex
	minute  int64
	count   int            // of entries in this minute
	sources map[string]int // entries in this minute, by source
	dropped int64
	late    *time.Timer // reports the dropped refusals if no other one follows
}

// Add records one refusal with its stable code. The entry must not contain input of the caller: neither the credential
// nor a value that the caller may have put into the wrong field.
func (r *Refusals) Add(ctx context.Context, p access.Principal, e access.Entry, code string) {
	now := models.Now
	if r.Now != nil {
		now = r.Now
	}
	ok, gap := r.admit(p.RemoteAddr, now())
	r.write(ctx, func(tx *models.Tx) {
		recordGap(tx, gap)
		if ok {
			access.RecordRefused(tx, p, r.known(tx, e), code)
		}
	}, ok || gap > 0)
}

// Flush records the number of refusals that were dropped so far.
func (r *Refusals) Flush(ctx context.Context) {
	r.mu.Lock()
	gap := r.dropped
	r.dropped = 0
	if r.late != nil {
		r.late.Stop()
		r.late = nil
	}
	r.mu.Unlock()
	r.write(ctx, func(tx *models.Tx) { recordGap(tx, gap) }, gap > 0)
}

func recordGap(tx *models.Tx, gap int64) {
	if gap > 0 {
		access.RecordRefused(tx, access.Principal{}, access.Entry{
			Action: access.AuditGap,
			Detail: map[string]string{"dropped": strconv.FormatInt(gap, 10)},
		}, "too_many_refusals")
	}
}

// write continues when the caller has left: they would otherwise choose what is recorded.
func (r *Refusals) write(ctx context.Context, record func(*models.Tx), needed bool) {
	if !needed {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeWithin)
	defer stop()
	err := r.DB.Write(ctx, func(tx *models.Tx) error {
		record(tx)
		return nil
	})
	if err != nil {
		r.Log.Error("could not record a refusal", "error", err)
	}
}

// known removes a team that doesn't exist from an entry, together with the requested object and project, which the
// caller may have made up. Otherwise anyone could fill the table of chains, because each team has its own chain.
func (r *Refusals) known(tx *models.Tx, e access.Entry) access.Entry {
	if e.Team == "" {
		return e
	}
	_, err := tx.TeamByID(e.Team)
	if errors.Is(err, models.ErrNotFound) {
		e.Team, e.Object, e.Project = "", "", ""
	} else if err != nil {
		r.Log.Error("could not look up the team of a refusal", "error", err)
	}
	return e
}

// admit reports whether a refusal may be recorded; gap is the number of refusals that
// were dropped in an earlier minute and that no entry has reported yet.
func (r *Refusals) admit(remoteAddr string, now time.Time) (ok bool, gap int64) {
	from, minute := policy.SourceName(remoteAddr), now.Unix()/60
	r.mu.Lock()
	defer r.mu.Unlock()
	if minute != r.minute {
		gap, r.dropped = r.dropped, 0
		r.minute, r.count, r.sources = minute, 0, map[string]int{}
	}
	if r.count >= cmp.Or(r.PerMinute, perMinute) || r.sources[from] >= cmp.Or(r.PerSource, perSource) {
		r.dropped++
		if r.late == nil {
			r.late = time.AfterFunc(2*time.Minute, func() { r.Flush(context.Background()) })
		}
		return false, gap
	}
	r.count++
	r.sources[from]++
	return true, gap
}
