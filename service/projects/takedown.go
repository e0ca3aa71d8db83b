package projects

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
)

// maxReason bounds a takedown's reason, in characters.
const maxReason = 500

// TakeDown freezes a project. Only operators may call it. A second call changes the reason.
func (s *Service) TakeDown(
	ctx context.Context, p access.Principal, in contract.TakedownUpdate,
) (contract.Takedown, error) {
	reason := strings.TrimSpace(in.Body.Reason)
	return s.moveTakedown(ctx, p, in.Project, func(row *models.Project, now time.Time) error {
		if n := utf8.RuneCountInString(reason); n == 0 || n > maxReason ||
			strings.ContainsFunc(reason, accounts.Unprintable) {
			return fault.InvalidField("/reason", "invalid_reason", "Enter a reason of 1 to %d characters on one "+
				"line. The project's team can read it.", maxReason)
		}
		if row.FrozenAt == nil {
			row.FrozenAt = &now
		}
		row.FrozenReason = reason
		return nil
	})
}

// LiftTakedown reverses TakeDown.
func (s *Service) LiftTakedown(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.Takedown, error) {
	return s.moveTakedown(ctx, p, in.Project, func(row *models.Project, _ time.Time) error {
		row.FrozenAt, row.FrozenReason = nil, ""
		return nil
	})
}

func (s *Service) moveTakedown(
	ctx context.Context, p access.Principal, ref string, fn func(*models.Project, time.Time) error,
) (contract.Takedown, error) {
	var out contract.Takedown
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := access.OperatorsProject(tx, p, ref, access.ProjectTakedown)
		if err != nil {
			return err
		}
		before, now := row, models.Now()
		if err := fn(&row, now); err != nil {
			return err
		}
		out = contract.Takedown{ID: row.ID, Name: row.Name, Frozen: shownFrozen(row)}
		if (row.FrozenAt == nil) == (before.FrozenAt == nil) && row.FrozenReason == before.FrozenReason {
			return nil
		}
		if err := tx.FreezeProject(row); err != nil {
			return err
		}
		entry := access.Entry{
			Action: access.ProjectTakedown,
			Object: row.ID,
			Team:   row.TeamID,
			Name:   row.Name,
			Before: takedownOf(before),
			After:  takedownOf(row),
		}
		if err := access.Record(tx, p, entry); err != nil {
			return err
		}
		entry.Team = "" // also into the operators' own log
		if err := access.Record(tx, p, entry); err != nil {
			return err
		}
		return tx.AddRevision(row.ID, "", now)
	})
	if err != nil {
		return contract.Takedown{}, fmt.Errorf("projects: takedown of %s: %w", ref, err)
	}
	s.Changed(ctx)
	return out, nil
}

// takedown is what audit entries record of a takedown.
type takedown struct {
	Frozen bool
	Reason string
}

func takedownOf(row models.Project) takedown {
	return takedown{Frozen: row.FrozenAt != nil, Reason: row.FrozenReason}
}
