package keys

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// MaxChecks is how many keys a caller can check per minute.
const MaxChecks = 10

// Check finds the key of a project, or of its product, by its current plaintext or the one before its last rotation.
// The audit log records each check without the plaintext, even if no key matches. Check returns TooMany after MaxChecks
// in a minute.
func (s *Service) Check(ctx context.Context, p access.Principal, in contract.KeyCheck) (contract.KeyMatch, error) {
	var out contract.KeyMatch
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		out = contract.KeyMatch{}
		parent, err := access.Project(tx, p, in.Project, access.KeyChange)
		if err != nil {
			return err
		}
		if s.MayCheck == nil || !s.MayCheck(p.Actor()+" "+parent.TeamID) {
			return errChecks
		}
		plaintext := in.Body.Key.Reveal()
		hash := policy.HashKey(plaintext)
		found, err := tx.KeysByHash(parent.TeamID, [][]byte{hash[:]})
		if err != nil {
			return err
		}
		for _, row := range found {
			if row.ProjectID == parent.ID || parent.ProductID != nil && samePointer(row.ProductID, parent.ProductID) {
				out.Match = &row.ID
				break
			}
		}
		detail := map[string]string{"check": "no key matches"}
		if out.Match != nil {
			detail = map[string]string{"check": "a key matches", "key": *out.Match}
		}
		return access.Record(tx, p, access.Entry{
			Action: access.KeyChange, Object: parent.ID, Project: parent.ID, Team: parent.TeamID, Detail: detail,
		})
	})
	if err != nil {
		return contract.KeyMatch{}, fmt.Errorf("keys: check a key of %s: %w", in.Project, err)
	}
	return out, nil
}

var errChecks = fault.New(fault.TooMany, "too_many_checks", "You can check at most %d keys per minute. Try again in "+
	"a minute.",
	MaxChecks)

func samePointer(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
