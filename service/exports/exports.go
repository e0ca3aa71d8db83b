// Package exports exports projects as zips: it accepts the request, builds the bundle in
// the background, and keeps the file until it expires. It can be killed at any point.
//
// It owns the states of an export. The contents of the zip belong to package bundle, the
// queue to package jobs. An export does not change its project.
package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"postern/bundle"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// The states of an export. It is queued, then building, then ready or failed. A ready one
// expires. A queued or building one can be cancelled.
const (
	Queued    = "queued"
	Building  = "building"
	Ready     = "ready"
	Failed    = "failed"
	Expired   = "expired"
	Cancelled = "cancelled"
)

// Enqueuer adds the job that builds an export to the caller's transaction.
type Enqueuer interface {
	EnqueueExport(ctx context.Context, tx *models.Tx, exportID string) error
}

// Service implements exports: request, build, download, cancel.
type Service struct {
	DB        *models.DB
	Jobs      Enqueuer
	Store     Store
	TTL       time.Duration // how long a finished export can be downloaded
	AddressOf func(project, version, environment string) string
	PublicURL string // of the control plane
	Generator string
	Vault     *secrets.Vault // seals the key that signs exports; nil: exports are not signed, and have no secrets
	// Prove checks that a caller is the account's person and not only in their browser; nil:
	// no export has secrets.
	Prove     func(ctx context.Context, p access.Principal, password string) error
	Log       *slog.Logger
	Events    Events     // nil: no events
	Followers *Followers // of Follow
	// Elsewhere does what Write does, in a way that leaves the processors to calls, for exports of
	// many rows; nil: Write does it.
	Elsewhere func(context.Context, models.Export, io.Writer, Progress) (bundle.Result, error)
}

// Events emits an event of a team in the caller's transaction.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]string) error
}

// Export is an export as its team sees it.
type Export struct {
	ID          string
	Project     string // id
	ProjectName string
	Format      string
	Keys        string
	Consumers   bool
	Secrets     bool
	Recipient   string
	RequestedBy string // actor, as in the audit log; "" of older exports
	Requester   string // e-mail address of the account that asked for it, if it is in the team; else ""
	State       string
	Part        string // being written
	RowsDone    int64
	RowsTotal   int64
	SizeBytes   int64
	SHA256      string // hexadecimal
	Summary     bundle.Summary
	Problem     string
	CreatedAt   time.Time
	FinishedAt  *time.Time
	ExpiresAt   *time.Time
}

// Request queues an export. It writes the row, the audit entry and the job in one
// transaction. Too many unfinished exports of a project are refused as Conflict with the
// code too_many_exports.
//
// An export with secrets is for members and owners who prove themselves again: with the
// account's password, or by a session that began within five minutes.
func (s *Service) Request(ctx context.Context, p access.Principal, project string, options Options) (Export, error) {
	var out Export
	if err := s.provedForSecrets(ctx, p, project, options); err != nil {
		return Export{}, fmt.Errorf("exports: request for %s: %w", project, err)
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		parent, err := access.Project(tx, p, project, access.ExportCreate)
		if err != nil {
			return err
		}
		options, err := options.normalized()
		if err != nil {
			return err
		}
		if options.Keys == string(bundle.KeysMint) {
			if err := access.Check(p, parent.TeamID, access.ExportMinted); err != nil {
				return err
			}
		}
		if err := checkRoom(tx, parent); err != nil {
			return err
		}
		row := models.Export{
			ID:          models.NewID("exp"),
			ProjectID:   parent.ID,
			Format:      options.Format,
			Keys:        options.Keys,
			Consumers:   options.Consumers,
			Secrets:     options.Secrets,
			Recipient:   options.Recipient,
			State:       Queued,
			CreatedAt:   models.Now(),
			RequestedBy: p.Actor(),
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		entry := access.Entry{
			Action:  access.ExportCreate,
			Object:  row.ID,
			Project: parent.ID,
			Team:    parent.TeamID,
			After:   row,
		}
		if err := access.Record(tx, p, entry); err != nil {
			return err
		}
		if row.Secrets {
			entry.Action, entry.After = access.ExportSecrets, nil
			entry.Detail = map[string]string{"recipient": row.Recipient}
			if err := access.Record(tx, p, entry); err != nil {
				return err
			}
		}
		out = view(row, parent.Name)
		return s.Jobs.EnqueueExport(ctx, tx, row.ID)
	})
	if err != nil {
		return Export{}, fmt.Errorf("exports: request for %s: %w", project, err)
	}
	return out, nil
}

// maxUnfinished bounds the queued and building exports of one project.
const maxUnfinished = 5

// checkRoom refuses an export of a project with many unfinished ones: each takes minutes
// if the project has many keys, and contains the same state.
func checkRoom(tx *models.Tx, parent models.Project) error {
	unfinished, err := tx.CountUnfinishedExports(parent.ID)
	if err != nil {
		return err
	}
	if unfinished >= maxUnfinished {
		return fault.New(fault.Conflict, "too_many_exports", "%d exports of this project are not finished. Wait for "+
			"one, or cancel one.", unfinished)
	}
	return access.CheckQuota(tx, parent.TeamID, models.QuotaExports)
}

// Get finds an export.
func (s *Service) Get(ctx context.Context, p access.Principal, id string) (Export, error) {
	tx := s.DB.Read(ctx)
	row, parent, err := s.find(tx, p, id, access.ExportRead)
	var members map[string]string
	if err == nil {
		members, err = tx.EmailsOfTeam(parent.TeamID)
	}
	if err != nil {
		return Export{}, fmt.Errorf("exports: get %s: %w", id, err)
	}
	out := view(row, parent.Name)
	out.Requester = members[row.RequestedBy]
	return out, nil
}

// List returns a project's exports, newest first.
func (s *Service) List(
	ctx context.Context, p access.Principal, project string, f models.ExportFilter, page models.Page,
) (models.List[Export], error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.ExportRead)
	if err != nil {
		return models.List[Export]{}, fmt.Errorf("exports: list of %s: %w", project, err)
	}
	f.Now = models.Now()
	rows, err := tx.ExportsOf(parent.ID, f, page)
	if err != nil {
		return models.List[Export]{}, fmt.Errorf("exports: list of %s: %w", project, err)
	}
	members, err := tx.EmailsOfTeam(parent.TeamID)
	if err != nil {
		return models.List[Export]{}, fmt.Errorf("exports: list of %s: %w", project, err)
	}
	return models.MapList(rows, func(row models.Export) Export {
		out := view(row, parent.Name)
		out.Requester = members[row.RequestedBy]
		return out
	}), nil
}

// Cancel stops an export that is not finished. A finished one is refused as Conflict with
// the code export_finished.
func (s *Service) Cancel(ctx context.Context, p access.Principal, id string) (Export, error) {
	var out Export
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, parent, err := s.find(tx, p, id, access.ExportCreate)
		if err != nil {
			return err
		}
		moved, err := tx.MoveExport(id, []string{Queued, Building}, Cancelled)
		if err != nil {
			return err
		}
		if !moved {
			return fault.New(fault.Conflict, "export_finished", "This export is %s and can no longer be cancelled.",
				row.State)
		}
		before := row
		row.State = Cancelled
		out = view(row, parent.Name)
		return access.Record(tx, p, access.Entry{
			Action:  access.ExportCreate,
			Object:  id,
			Project: parent.ID,
			Team:    parent.TeamID,
			Detail:  map[string]string{"change": "cancel"},
			Before:  before,
			After:   row,
		})
	})
	if err != nil {
		return Export{}, fmt.Errorf("exports: cancel %s: %w", id, err)
	}
	return out, nil
}

func (s *Service) find(
	tx *models.Tx, p access.Principal, id string, action access.Action,
) (models.Export, models.Project, error) {
	if p.Anonymous() {
		return models.Export{}, models.Project{}, access.Check(p, "", action)
	}
	row, err := tx.ExportByID(id)
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
	return row, parent, access.CheckProject(p, parent, action)
}

func view(row models.Export, projectName string) Export {
	out := Export{
		ID:          row.ID,
		Project:     row.ProjectID,
		ProjectName: projectName,
		Format:      row.Format,
		Keys:        row.Keys,
		Consumers:   row.Consumers,
		Secrets:     row.Secrets,
		Recipient:   row.Recipient,
		RequestedBy: row.RequestedBy,
		State:       row.State,
		Part:        row.Part,
		RowsDone:    row.RowsDone,
		RowsTotal:   row.RowsTotal,
		SizeBytes:   row.SizeBytes,
		SHA256:      row.SHA256,
		Summary: bundle.Summary{
			Exact:       row.Exact,
			Approximate: row.Approximate,
			Lossy:       row.Lossy,
			Skipped:     row.Skipped,
		},
		Problem:    row.Problem,
		CreatedAt:  row.CreatedAt,
		FinishedAt: row.FinishedAt,
		ExpiresAt:  row.ExpiresAt,
	}
	if row.State == Ready && row.ExpiresAt != nil && !row.ExpiresAt.After(models.Now()) {
		out.State = Expired
	}
	return out
}
