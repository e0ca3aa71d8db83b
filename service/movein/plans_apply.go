package movein

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/core/movein"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Writer applies plans, and undoes imports (Service).
type Writer interface {
	Write(ctx context.Context, p access.Principal, team string, plan *movein.Plan) (contract.MovedIn, error)
	Undo(ctx context.Context, p access.Principal, id string) error
}

// lease is how long a plan that is applied can't be changed after the process that applies it was killed. While that
// process runs, it extends the lease again and again.
const lease = time.Minute

// extensions is how often a lease is extended before it would end.
const extensions = 4

// Apply writes a plan that the caller has seen, and deletes it. Errors: Invalid without an ETag; Stale; Conflict
// import_applying; those of writing, after which the plan is there again.
func (s *Plans) Apply(
	ctx context.Context, p access.Principal, in contract.ImportApplication,
) (contract.MovedIn, error) {
	out, err := s.apply(ctx, p, in)
	if err != nil {
		return contract.MovedIn{}, fmt.Errorf("movein: apply %s: %w", in.Import, err)
	}
	return out, nil
}

func (s *Plans) apply(
	ctx context.Context, p access.Principal, in contract.ImportApplication,
) (contract.MovedIn, error) {
	var none contract.MovedIn
	row, _, plan, err := s.load(ctx, p, in.Import)
	switch {
	case err != nil:
		return none, err
	case in.IfMatch == "":
		return none, fault.InvalidField("/If-Match", "required", "Send the plan's ETag in the If-Match header.")
	}
	if err := changeable(row, in.IfMatch); err != nil {
		return none, err
	}
	if err := s.claim(ctx, row); err != nil {
		return none, err
	}
	end := s.hold(ctx, row.ID)
	out, err := s.Writer.Write(ctx, p, row.TeamID, plan)
	end()
	if out.Created.Total()+out.Updated.Total() == 0 {
		out.ID = "" // there is nothing to undo
	}
	ctx = context.WithoutCancel(ctx) // the result is recorded even if the caller has left
	if err != nil {
		released := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.ReleaseImportPlan(row.ID) })
		return none, errors.Join(err, released)
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := tx.DeleteImportPlan(row.ID); err != nil {
			return err
		}
		if out.CannotUndo, err = cannotUndo(tx, out.ID); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.ProjectImport, Object: row.ID, Team: row.TeamID,
			Detail: map[string]string{"change": "apply", "name": row.Choices.Name, "import": out.ID},
			Before: settingsOf(row, nil),
		})
	})
	return out, err
}

// claim keeps a plan from being changed or applied by others. Its ETag stays.
func (s *Plans) claim(ctx context.Context, row models.ImportPlan) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		held, err := tx.ClaimImportPlan(row.ID, row.UpdatedAt, models.Now(), s.leased())
		if err == nil && !held {
			err = access.ChangedConcurrently()
		}
		return err
	})
}

// leased is how long a plan is claimed for.
func (s *Plans) leased() time.Duration { return cmp.Or(s.Lease, lease) }

// hold extends the claim of a plan until the returned function is called or the context ends.
func (s *Plans) hold(ctx context.Context, id string) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		again := time.NewTicker(s.leased() / extensions)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			}
			// If it fails, the next one may not.
			_ = s.DB.Write(ctx, func(tx *models.Tx) error {
				return tx.KeepImportPlan(id, models.Now().Add(s.leased()))
			})
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// Undo takes an import back, unless something that it created was changed since.
func (s *Plans) Undo(ctx context.Context, p access.Principal, in contract.ImportPath) (contract.None, error) {
	var err error
	if p.Anonymous() {
		err = access.Check(p, "", access.ProjectImport)
	} else {
		err = s.Writer.Undo(ctx, p, in.Import)
	}
	if err != nil {
		return contract.None{}, fmt.Errorf("movein: undo %s: %w", in.Import, err)
	}
	return contract.None{}, nil
}

// Applied returns an import that was applied. Errors: NotFound; Conflict import_planned for a plan.
func (s *Plans) Applied(ctx context.Context, p access.Principal, in contract.ImportPath) (contract.MovedIn, error) {
	var none contract.MovedIn
	if p.Anonymous() {
		return none, access.Check(p, "", access.ProjectImport)
	}
	tx := s.DB.Read(ctx)
	row, err := tx.MoveInByID(in.Import)
	if errors.Is(err, models.ErrNotFound) {
		err = notApplied(tx, p, in.Import)
	}
	if err == nil {
		err = check(p, row.TeamID)
	}
	if err == nil {
		row.Result.CannotUndo, err = cannotUndo(tx, row.ID)
	}
	if err != nil {
		return none, fmt.Errorf("movein: get %s: %w", in.Import, err)
	}
	if row.Result.ToDo == nil { // it was written before results had them
		row.Result.ToDo = []contract.LedgerLine{}
	}
	for i := range row.Result.Projects {
		if one := &row.Result.Projects[i]; one.Closed == nil {
			one.Closed = []string{}
		}
	}
	return row.Result, nil
}

// notApplied explains why an ID has no result: it doesn't exist, or it belongs to a plan.
func notApplied(tx *models.Tx, p access.Principal, id string) error {
	row, err := tx.ImportPlanByID(id)
	if errors.Is(err, models.ErrNotFound) {
		return access.NotFound()
	}
	if err == nil {
		err = check(p, row.TeamID)
	}
	if err != nil {
		return err
	}
	return fault.New(fault.Conflict, "import_planned", "This import hasn't been applied yet. Only its plan exists.")
}

// cannotUndo says why an import can't be undone, as far as that is known without comparing all that it created; ""
// otherwise.
func cannotUndo(tx *models.Tx, id string) (string, error) {
	row, err := tx.MoveInByID(id)
	if errors.Is(err, models.ErrNotFound) {
		return "", nil
	}
	if err == nil {
		err = undoable(tx, row)
	}
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return refused.Public, nil
	}
	return "", err
}
