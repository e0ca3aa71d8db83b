// Package exports exports projects as zips: it accepts the request, builds the bundle in the background, and keeps the
// file until it expires. The process can be killed at any point.
//
// It owns the states of an export. It leaves the contents of the zip to package bundle, and the queue to package jobs.
// An export doesn't change its project.
package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// Enqueuer adds the job that builds an export to the caller's transaction.
type Enqueuer interface {
	EnqueueExport(ctx context.Context, tx *models.Tx, exportID string) error
}

// Service requests, builds, serves and cancels exports.
type Service struct {
	DB        *models.DB
	Jobs      Enqueuer
	Store     Store
	TTL       time.Duration // how long a finished export can be downloaded
	AddressOf func(project, version, environment string) string
	PublicURL string // of the control plane
	Generator string
	Vault     *secrets.Vault // seals the key that signs exports; nil: exports aren't signed, and can't contain secrets
	// Prove checks that the caller is the account's holder, and not just someone at their browser; nil: no export can
	// contain secrets.
	Prove     func(ctx context.Context, p access.Principal, password string) error
	Log       *slog.Logger
	Events    Events     // nil: no events
	Followers *Followers // of Follow
	// Elsewhere replaces Write for exports of many rows, and leaves the processors to calls; nil: Write is used.
	Elsewhere func(context.Context, models.Export, io.Writer, Progress) (bundle.Result, error)
}

// Events emits an event to a team in the caller's transaction.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
}

// Create queues an export as Request does.
func (s *Service) Create(
	ctx context.Context, p access.Principal, in contract.ExportCreation,
) (contract.Export, error) {
	return s.Request(ctx, p, in.Project, Options{
		Format:    in.Body.Format,
		Keys:      in.Body.Keys,
		Consumers: in.Body.Consumers == nil || *in.Body.Consumers,
		Secrets:   in.Body.Secrets,
		Recipient: in.Body.Recipient,
		Password:  secrets.Secret(in.Body.Password),
	})
}

// Request queues an export. It writes the row, the audit entry and the job in one transaction. It returns Conflict with
// the code too_many_exports if the project has too many unfinished exports.
//
// For an export with secrets, members and owners have to prove their identity again: with the account's password, or by
// a session that began within the last five minutes.
func (s *Service) Request(
	ctx context.Context, p access.Principal, project string, options Options,
) (contract.Export, error) {
	var out contract.Export
	if err := s.provedForSecrets(ctx, p, project, options); err != nil {
		return contract.Export{}, fmt.Errorf("exports: request for %s: %w", project, err)
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
			State:       contract.ExportQueued,
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
		out = s.shown(row, parent.Name)
		return s.Jobs.EnqueueExport(ctx, tx, row.ID)
	})
	if err != nil {
		return contract.Export{}, fmt.Errorf("exports: request for %s: %w", project, err)
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
		return fault.New(fault.Conflict, "too_many_exports", "This project already has %d unfinished exports. Wait "+
			"for one to finish, or cancel one.", unfinished)
	}
	return access.CheckQuota(tx, parent.TeamID, models.QuotaExports)
}

// Get finds an export.
func (s *Service) Get(ctx context.Context, p access.Principal, in contract.ExportPath) (contract.Export, error) {
	tx := s.DB.Read(ctx)
	row, parent, err := s.find(tx, p, in.Export, access.ExportRead)
	var members map[string]string
	if err == nil {
		members, err = tx.EmailsOfTeam(parent.TeamID)
	}
	if err != nil {
		return contract.Export{}, fmt.Errorf("exports: get %s: %w", in.Export, err)
	}
	out := s.shown(row, parent.Name)
	out.RequestedBy.Email = contract.OrNull(members[row.RequestedBy])
	return out, nil
}

// List returns a project's exports, newest first by default.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.ExportList,
) (models.List[contract.Export], error) {
	var none models.List[contract.Export]
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, in.Project, access.ExportRead)
	if err != nil {
		return none, fmt.Errorf("exports: list exports of %s: %w", in.Project, err)
	}
	filter := models.ExportFilter{State: in.State, Format: in.Format, Now: models.Now()}
	rows, err := tx.ExportsOf(parent.ID, filter, models.PageOf(in.Page, in.Sort, ""))
	if err != nil {
		return none, fmt.Errorf("exports: list exports of %s: %w", in.Project, err)
	}
	members, err := tx.EmailsOfTeam(parent.TeamID)
	if err != nil {
		return none, fmt.Errorf("exports: list exports of %s: %w", in.Project, err)
	}
	return models.MapList(rows, func(row models.Export) contract.Export {
		out := s.shown(row, parent.Name)
		out.RequestedBy.Email = contract.OrNull(members[row.RequestedBy])
		return out
	}), nil
}

// Cancel stops an unfinished export. It returns Conflict with the code export_finished for a finished one.
func (s *Service) Cancel(ctx context.Context, p access.Principal, in contract.ExportPath) (contract.Export, error) {
	id := in.Export
	var out contract.Export
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, parent, err := s.find(tx, p, id, access.ExportCreate)
		if err != nil {
			return err
		}
		running := []string{contract.ExportQueued, contract.ExportBuilding}
		moved, err := tx.MoveExport(id, running, contract.ExportCancelled)
		if err != nil {
			return err
		}
		if !moved {
			return fault.New(fault.Conflict, "export_finished", "This export has already finished (state: "+
				"%s) and can't be canceled.", row.State)
		}
		before := row
		row.State = contract.ExportCancelled
		out = s.shown(row, parent.Name)
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
		return contract.Export{}, fmt.Errorf("exports: cancel %s: %w", id, err)
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

// shown is an export as its team sees it, but for the address of its requester.
func (s *Service) shown(row models.Export, projectName string) contract.Export {
	out := contract.Export{
		ID:          row.ID,
		Project:     row.ProjectID,
		ProjectName: projectName,
		Format:      row.Format,
		Keys:        row.Keys,
		Consumers:   row.Consumers,
		Secrets:     row.Secrets,
		Recipient:   row.Recipient,
		RequestedBy: contract.Requester{ID: row.RequestedBy},
		State:       row.State,
		Progress:    contract.ExportProgress{Part: row.Part, RowsDone: row.RowsDone, RowsTotal: row.RowsTotal},
		SizeBytes:   row.SizeBytes,
		SHA256:      row.SHA256,
		Ledger: contract.LedgerTotals{
			LedgerCounts: contract.LedgerCounts{
				Exact:       row.Exact,
				Approximate: row.Approximate,
				Lossy:       row.Lossy,
				Skipped:     row.Skipped,
			},
			Configured: contract.LedgerCounts{
				Exact:       row.ConfiguredExact,
				Approximate: row.ConfiguredApproximate,
				Lossy:       row.ConfiguredLossy,
				Skipped:     row.ConfiguredSkipped,
			},
		},
		Error:      row.Problem,
		CreatedAt:  row.CreatedAt.UTC(),
		FinishedAt: contract.UTC(row.FinishedAt),
		ExpiresAt:  contract.UTC(row.ExpiresAt),
	}
	if row.State == contract.ExportReady {
		if row.ExpiresAt != nil && !row.ExpiresAt.After(models.Now()) {
			out.State = contract.ExportExpired
		} else {
			out.DownloadURL = s.PublicURL + "/api/v1/exports/" + row.ID + "/download"
		}
	}
	return out
}
