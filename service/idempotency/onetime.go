package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/models"
)

// OneTimeTTL is how long content waits to be taken.
const OneTimeTTL = 5 * time.Minute

// PutOneTime keeps content until TakeOneTime gets it with the same credential, key, method and path, OneTimeTTL at
// most. Content that waits there already is replaced. The row can be neither found nor opened without the credential.
func (s *Service) PutOneTime(ctx context.Context, slot Request, content []byte) error {
	keys, err := slot.derive()
	if err != nil {
		return err
	}
	sealed, err := keys.seal(content)
	if err != nil {
		return err
	}
	row := models.IdempotentRequest{
		Lookup:      keys.lookup,
		Fingerprint: keys.fingerprint(slot),
		LeaseID:     models.NewID("one"),
		LeaseUntil:  models.Now(),
		CarriedOut:  true,
		Answer:      sealed,
		ExpiresAt:   models.Now().Add(OneTimeTTL),
	}
	if err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.ReplaceIdempotent(row) }); err != nil {
		return fmt.Errorf("idempotency: store one-time content: %w", err)
	}
	return nil
}

// TakeOneTime returns what PutOneTime kept and deletes it; nil when there is nothing. If there are several concurrent
// callers, one gets it.
func (s *Service) TakeOneTime(ctx context.Context, slot Request) ([]byte, error) {
	keys, err := slot.derive()
	if err != nil {
		return nil, err
	}
	var row models.IdempotentRequest
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		row, err = tx.TakeIdempotent(keys.lookup)
		return err
	})
	if errors.Is(err, models.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("idempotency: read one-time content: %w", err)
	}
	if !row.ExpiresAt.After(models.Now()) {
		return nil, nil
	}
	content, err := keys.open(row.Answer)
	if err != nil {
		return nil, fmt.Errorf("idempotency: decrypt one-time content: %w", err)
	}
	return content, nil
}
