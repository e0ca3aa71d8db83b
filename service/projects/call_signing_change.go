package projects

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// errUnchanged ends a change of call signing that has nothing to change.
var errUnchanged = errors.New("nothing to change")

// signingChange is the transaction that changes a project's signing keys. keys are those
// that are published still, in the order in which they sign.
type signingChange struct {
	tx      *models.Tx
	project models.Project
	keys    []models.CallSigningKey
	now     time.Time
}

// changeSigning changes the signing keys of a project in one transaction: it checks
// permission, deletes keys that are no longer published, calls fn, and writes the audit entry
// and the revision.
func (s *Service) changeSigning(
	ctx context.Context, p access.Principal, ref, what string, fn func(signingChange) error,
) (contract.CallSigning, error) {
	var out contract.CallSigning
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		project, err := access.Project(tx, p, ref, access.ProjectUpdate)
		if err != nil {
			return err
		}
		if err := tx.LockProject(project.ID); err != nil {
			return err
		}
		c := signingChange{tx: tx, project: project, now: models.Now()}
		before, err := s.signingAt(tx, project, c.now)
		if err != nil {
			return err
		}
		if c.keys, err = publishedKeys(tx, project.ID, c.now); err != nil {
			return err
		}
		if err := fn(c); errors.Is(err, errUnchanged) {
			out = before
			return nil
		} else if err != nil {
			return err
		}
		if out, err = s.signingAt(tx, project, c.now); err != nil {
			return err
		}
		err = access.Record(tx, p, access.Entry{
			Action: access.ProjectUpdate,
			Object: project.ID,
			Team:   project.TeamID,
			Detail: map[string]string{"change": what, "name": project.Name},
			Before: auditSigning(before),
			After:  auditSigning(out),
		})
		if err != nil {
			return err
		}
		return tx.AddRevision(project.ID, "", c.now)
	})
	if err != nil {
		return contract.CallSigning{}, fmt.Errorf("projects: change %s of %s: %w", what, ref, err)
	}
	s.Changed(ctx)
	return out, nil
}

// publishedKeys lists the keys that are published at now, and deletes the others.
func publishedKeys(tx *models.Tx, projectID string, now time.Time) ([]models.CallSigningKey, error) {
	rows, err := tx.CallSigningKeysOf(projectID)
	if err != nil {
		return nil, err
	}
	var published []models.CallSigningKey
	for _, k := range rows {
		if k.PublishedUntil == nil || k.PublishedUntil.After(now) {
			published = append(published, k)
		} else if err := tx.DeleteCallSigningKey(k); err != nil {
			return nil, err
		}
	}
	return published, nil
}

// signingKeys are the signing keys of a project as the audit log shows them.
type signingKeys struct {
	CallSigning map[string]string // by the id of the key, when it signs
}

func auditSigning(c contract.CallSigning) signingKeys {
	out := signingKeys{CallSigning: map[string]string{}}
	for _, k := range c.Keys {
		text := "signs from " + k.SignsFrom.UTC().Format(time.RFC3339)
		if k.PublishedUntil != nil {
			text += ", published until " + k.PublishedUntil.UTC().Format(time.RFC3339)
		}
		out.CallSigning[k.ID] = text
	}
	return out
}
