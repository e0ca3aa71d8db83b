// Package idempotency carries out a request once and returns its first response to each
// retry with the same key (draft-ietf-httpapi-idempotency-key-header-07, and Stripe's
// behavior where the draft leaves a choice).
//
// It owns which attempt runs, and how long and under which encryption a response is kept.
// It leaves the header, and which responses are kept, to the handlers.
package idempotency

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/models"
	"postern/platform/fault"
)

// TTL is how long an answer is repeated.
const TTL = 24 * time.Hour

// An attempt holds a lease and renews it while it runs, so that the attempt of a replica that was killed is over soon.
// One that takes longer than longest is not renewed. Another attempt may then take its place: the first one cannot
// commit anything after that, so that a slow one, or a clock that is wrong, does no harm.
const (
	lease   = 15 * time.Second
	longest = time.Minute
)

// Service decides which attempt of a request runs, and keeps answers.
type Service struct {
	DB    *models.DB
	Lease time.Duration // of an attempt; 0: 15 s
}

// Attempt is one run of a request. Every transaction of the request is written
// with the context of Context.
type Attempt struct {
	service *Service
	keys    secrets
	lease   string
	stop    context.CancelFunc // ends the renewal of the lease
}

// Begin asks whether the request may be carried out now. It returns the attempt
// at that, or the answer of an earlier one. Errors: Invalid for a key that came
// with another request before; Conflict idempotency_in_progress while an earlier
// attempt is under way; Conflict idempotency_answer_lost when one was carried
// out and its answer could not be kept.
func (s *Service) Begin(ctx context.Context, r Request) (*Attempt, []byte, error) {
	keys, err := r.derive()
	if err != nil {
		return nil, nil, err
	}
	a := &Attempt{service: s, keys: keys, lease: models.NewID("try"), stop: func() {}}
	var sealed []byte
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		sealed, err = a.begin(tx, keys.fingerprint(r), models.Now())
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("idempotency: begin: %w", err)
	}
	if len(sealed) == 0 {
		a.holdLease()
		return a, nil, nil
	}
	answer, err := keys.open(sealed)
	if err != nil {
		return nil, nil, fmt.Errorf("idempotency: decrypt a stored response: %w", err)
	}
	return nil, answer, nil
}

// begin returns the sealed answer where there is one; else the attempt holds the
// lease.
func (a *Attempt) begin(tx *models.Tx, fingerprint []byte, now time.Time) ([]byte, error) {
	row := models.IdempotentRequest{
		Lookup:      a.keys.lookup,
		Fingerprint: fingerprint,
		LeaseID:     a.lease,
		LeaseUntil:  now.Add(a.service.lease()),
		Answer:      []byte{},
		ExpiresAt:   now.Add(TTL),
	}
	if first, err := tx.BeginIdempotent(row); err != nil || first {
		return nil, err
	}
	seen, err := tx.IdempotentByLookup(a.keys.lookup)
	if errors.Is(err, models.ErrNotFound) {
		return nil, inProgress(now, now.Add(time.Second)) // abandoned between the two statements
	}
	if err != nil {
		return nil, err
	}
	if seen.ExpiresAt.After(now) {
		switch {
		case !bytes.Equal(seen.Fingerprint, fingerprint):
			return nil, errReused
		case len(seen.Answer) > 0:
			return seen.Answer, nil
		case seen.LeaseUntil.After(now):
			return nil, inProgress(now, seen.LeaseUntil)
		case seen.CarriedOut:
			return nil, errLost
		}
	}
	taken, err := tx.TakeOverIdempotent(row, seen, now)
	if err == nil && !taken {
		err = inProgress(now, now.Add(a.service.lease()))
	}
	return nil, err
}

func (s *Service) lease() time.Duration { return cmp.Or(s.Lease, lease) }

// holdLease renews the lease until the attempt has ended.
func (a *Attempt) holdLease() {
	ctx, stop := context.WithTimeout(context.Background(), longest)
	a.stop = stop
	go func() {
		defer stop()
		tick := time.NewTicker(a.service.lease() / 4)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			until := models.Now().Add(a.service.lease())
			_ = a.service.DB.Write(ctx, func(tx *models.Tx) error { // that it cannot be renewed ends the lease
				return tx.RenewIdempotent(a.keys.lookup, a.lease, until)
			})
		}
	}()
}

var (
	errReused = fault.New(fault.Invalid, "idempotency_key_reused",
		"This Idempotency-Key was already used for a different request. Use a new key for each request, and reuse a "+
			"key only to retry the same request.")
	errLost = fault.New(fault.Conflict, "idempotency_answer_lost",
		"The request with this Idempotency-Key succeeded, but its response was lost. Check the current state before "+
			"you send the request again with a new key.")
)

// maxWait keeps callers from waiting out the lease of an attempt that most often
// takes a moment.
const maxWait = 5 * time.Second

func inProgress(now, until time.Time) error {
	wait := min(max(until.Sub(now), time.Second), maxWait)
	return fault.New(fault.Conflict, "idempotency_in_progress", "A request with this Idempotency-Key is still in "+
		"progress, or was interrupted when its server stopped. Try again in %s.",
		english.Plural(int(math.Ceil(wait.Seconds())), "second", "")).After(wait)
}

// Context is ctx for the request itself: its transactions note that it was
// carried out, and fail when another attempt has taken its place.
func (a *Attempt) Context(ctx context.Context) context.Context {
	return models.Alongside(ctx, func(tx *models.Tx) error {
		held, err := tx.MarkCarriedOut(a.keys.lookup, a.lease)
		if err != nil {
			return fmt.Errorf("idempotency: record that a request is in progress: %w", err)
		}
		if !held {
			return fmt.Errorf("idempotency: %w", errTooSlow)
		}
		return nil
	})
}

var errTooSlow = fault.New(fault.Unavailable, "too_slow", "This request took too long and had no effect. Retry it "+
	"with the same Idempotency-Key.")

// Keep ends the attempt with the answer that is given from now on.
func (a *Attempt) Keep(ctx context.Context, answer []byte) error {
	sealed, err := a.keys.seal(answer)
	if err != nil {
		return err
	}
	return a.end(ctx, func(tx *models.Tx) error { return tx.AnswerIdempotent(a.keys.lookup, a.lease, sealed) })
}

// Abandon ends the attempt without an answer, so that the request can be sent
// again.
func (a *Attempt) Abandon(ctx context.Context) error {
	return a.end(ctx, func(tx *models.Tx) error { return tx.AbandonIdempotent(a.keys.lookup, a.lease, models.Now()) })
}

// endWithin bounds what is written after the answer is known.
const endWithin = 10 * time.Second

// end writes although the caller may have gone, which is when a kept answer is
// needed most.
func (a *Attempt) end(ctx context.Context, write func(*models.Tx) error) error {
	a.stop()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer stop()
	if err := a.service.DB.Write(ctx, write); err != nil {
		return fmt.Errorf("idempotency: end an attempt: %w", err)
	}
	return nil
}
