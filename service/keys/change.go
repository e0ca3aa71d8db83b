package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Get finds one key.
func (s *Service) Get(ctx context.Context, p access.Principal, in contract.KeyPath) (contract.Key, error) {
	tx := s.DB.Read(ctx)
	row, parent, err := s.findKey(tx, p, in.Key, access.KeyRead)
	if err != nil {
		return contract.Key{}, fmt.Errorf("keys: get %s: %w", in.Key, err)
	}
	return view(tx, parent, row)
}

// Home is the project in which a key was created, for callers that have loaded it.
type Home struct {
	ID, Team string
	Limits   models.Limits // that the project sets for each key
}

// GetFrom finds one key of a project that the caller has loaded.
func (s *Service) GetFrom(ctx context.Context, p access.Principal, home Home, id string) (contract.Key, error) {
	project := models.Project{ID: home.ID, TeamID: home.Team, Limits: contract.ProjectLimits{Key: home.Limits}}
	if err := access.CheckProject(p, project, access.KeyRead); err != nil {
		return contract.Key{}, fmt.Errorf("keys: get %s: %w", id, err)
	}
	tx := s.DB.Read(ctx)
	row, err := tx.KeyByID(id)
	if errors.Is(err, models.ErrNotFound) || (err == nil && row.ProjectID != home.ID) {
		err = access.NotFound()
	}
	if err != nil {
		return contract.Key{}, fmt.Errorf("keys: get %s: %w", id, err)
	}
	return view(tx, project, row)
}

// Freeze makes calls with the key get 403 until it is unfrozen.
func (s *Service) Freeze(ctx context.Context, p access.Principal, in contract.KeyPath) (contract.Key, error) {
	return s.change(ctx, p, in, "freeze", func(row *models.APIKey, _ time.Time) error {
		if row.State == string(snapshot.KeyRevoked) {
			return errRevoked
		}
		row.State = string(snapshot.KeyFrozen)
		return nil
	})
}

// Unfreeze undoes Freeze.
func (s *Service) Unfreeze(ctx context.Context, p access.Principal, in contract.KeyPath) (contract.Key, error) {
	return s.change(ctx, p, in, "unfreeze", func(row *models.APIKey, _ time.Time) error {
		if row.State == string(snapshot.KeyRevoked) {
			return errRevoked
		}
		row.State = string(snapshot.KeyActive)
		return nil
	})
}

// Revoke permanently invalidates a key, including the old secret of a rotation.
func (s *Service) Revoke(ctx context.Context, p access.Principal, in contract.KeyPath) (contract.Key, error) {
	return s.change(ctx, p, in, "revoke", func(row *models.APIKey, _ time.Time) error {
		revoke(row)
		return nil
	})
}

// Rotate gives an active key a new secret. The old secret stays valid for a grace period. A secret that is still in the
// grace period of an earlier rotation becomes invalid immediately.
func (s *Service) Rotate(
	ctx context.Context, p access.Principal, in contract.KeyRotation,
) (contract.KeyWithSecret, error) {
	grace := DefaultGrace
	if in.Body != nil && in.Body.GraceSeconds != nil {
		seconds := *in.Body.GraceSeconds
		if seconds < 0 || seconds > int64(MaxGrace/time.Second) {
			seconds = -1 // a product of it could wrap back into the range
		}
		grace = time.Duration(seconds) * time.Second
	}
	var plaintext string
	key, err := s.change(ctx, p, in.KeyPath, "rotate", func(row *models.APIKey, now time.Time) error {
		if grace < 0 {
			return fault.InvalidField("/grace_seconds", "invalid_grace", "Use 0 to %s seconds (%d days).",
				humanize.Comma(int64(MaxGrace/time.Second)), MaxGrace/(24*time.Hour))
		}
		if row.State != string(snapshot.KeyActive) || expired(row, now) {
			return fault.New(
				fault.Conflict, "key_not_active", "Only active keys can be rotated. This key is %s.",
				stateOf(row, now),
			)
		}
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		row.OldHash, row.GraceEndsAt = nil, nil
		if grace > 0 {
			until := now.Add(grace)
			row.OldHash, row.GraceEndsAt = row.Hash, &until
		}
		var err error
		plaintext, err = setSecret(row, s.Prefix)
		return err
	})
	return contract.KeyWithSecret{Key: key, Secret: contract.Secret(plaintext)}, err
}

var errRevoked = fault.New(fault.Conflict, "key_revoked", "This key is permanently revoked. Create a new key.")

// webhookEvents has the event that a change of a key sends to webhooks.
var webhookEvents = map[string]string{"rotate": "key.rotated", "freeze": "key.frozen", "revoke": "key.revoked"}

// change applies fn to a key in one transaction with its audit entry and
// revision. Asking for the state that a key is in already changes nothing.
func (s *Service) change(
	ctx context.Context, p access.Principal, in contract.KeyPath, verb string,
	fn func(*models.APIKey, time.Time) error,
) (contract.Key, error) {
	var out contract.Key
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, parent, err := s.findKey(tx, p, in.Key, access.KeyChange)
		if err != nil {
			return err
		}
		before, now := row, models.Now()
		if err := fn(&row, now); err != nil {
			return err
		}
		if reflect.DeepEqual(row, before) {
			out, err = view(tx, parent, row)
			return err
		}
		row.UpdatedAt = now
		if err := saveChange(ctx, s.Events, tx, p, parent, before, row, map[string]string{"change": verb}); err != nil {
			return err
		}
		if out, err = view(tx, parent, row); err != nil {
			return err
		}
		return tx.AddRevision(parent.ID, row.ID, now)
	})
	if err != nil {
		return contract.Key{}, fmt.Errorf("keys: %s %s: %w", verb, in.Key, err)
	}
	s.Changed(ctx)
	return out, nil
}

// saveChange writes a changed key with its audit entry, to which it adds detail, and its
// event. It returns changed_concurrently if the key has changed since before was read. The
// caller adds the revision.
func saveChange(
	ctx context.Context, events Events, tx *models.Tx, p access.Principal,
	parent models.Project, before, row models.APIKey, detail map[string]string,
) error {
	updated, err := tx.UpdateKey(row, before.UpdatedAt)
	if err != nil {
		return err
	}
	if !updated {
		return errChanged
	}
	if err := tx.KeepDroppedHashes(&before, &row); err != nil {
		return err
	}
	entry := access.Entry{
		Action:  access.KeyChange,
		Object:  row.ID,
		Project: parent.ID,
		Team:    parent.TeamID,
		Detail:  detailOf(row),
		Before:  before,
		After:   row,
	}
	maps.Copy(entry.Detail, detail)
	if err := access.Record(tx, p, entry); err != nil {
		return err
	}
	event := webhookEvents[detail["change"]]
	if event == "" {
		return nil
	}
	return Emit(ctx, events, tx, parent, row, event)
}

func (s *Service) findKey(
	tx *models.Tx, p access.Principal, id string, action access.Action,
) (models.APIKey, models.Project, error) {
	if p.Anonymous() {
		return models.APIKey{}, models.Project{}, access.Check(p, "", action)
	}
	row, err := tx.KeyByID(id)
	if errors.Is(err, models.ErrNotFound) {
		return row, models.Project{}, access.NotFound()
	}
	if err != nil {
		return row, models.Project{}, err
	}
	parent, err := tx.ProjectByID(row.ProjectID)
	if err != nil {
		return row, parent, err
	}
	if s.project != "" && s.project != parent.ID && s.project != parent.Name {
		return row, parent, access.NotFound()
	}
	return row, parent, access.CheckProject(p, parent, action)
}
