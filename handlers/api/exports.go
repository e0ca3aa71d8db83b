package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/exports"
)

// ExportRef is the path parameter of an export.
type ExportRef struct {
	Export string `path:"export" doc:"Id of the export"`
}

type exportOutput struct {
	ID          string          `json:"id"`
	Project     string          `json:"project" doc:"Id of the project"`
	Format      string          `json:"format"`
	Keys        string          `json:"keys"`
	Consumers   bool            `json:"consumers"`
	Secrets     bool            `json:"secrets"`
	Recipient   string          `json:"recipient,omitempty"`
	RequestedBy requesterOutput `json:"requested_by" doc:"Who asked for it"`
	State       string          `json:"state" enum:"queued,building,ready,failed,expired,cancelled"`
	Progress    exportProgress  `json:"progress"`
	SizeBytes   int64           `json:"size_bytes"`
	SHA256      string          `json:"sha256"`
	Ledger      ledgerOutput    `json:"ledger" doc:"Number of items by how exactly they were exported"`
	DownloadURL string          `json:"download_url,omitempty" doc:"Present when ready; requires the same credentials"`
	CreatedAt   time.Time       `json:"created_at"`
	FinishedAt  *time.Time      `json:"finished_at"`
	ExpiresAt   *time.Time      `json:"expires_at" doc:"When the download ends"`
	Error       string          `json:"error,omitempty"`
}

type requesterOutput struct {
	ID    string  `json:"id" doc:"An account's id, workspace_key:<team>, or empty for exports of older servers"`
	Email *string `json:"email" doc:"E-mail address if the account is in the team; else null"`
}

type exportProgress struct {
	Part      string `json:"part" doc:"What is being written, or what the export waits for"`
	RowsDone  int64  `json:"rows_done"`
	RowsTotal int64  `json:"rows_total"`
}

type ledgerOutput struct {
	Exact       int64 `json:"exact"`
	Approximate int64 `json:"approximate"`
	Lossy       int64 `json:"lossy"`
	Skipped     int64 `json:"skipped"`
}

func (h *Handler) showExport(e exports.Export) exportOutput {
	out := exportOutput{
		ID:          e.ID,
		Project:     e.Project,
		Format:      e.Format,
		Keys:        e.Keys,
		Consumers:   e.Consumers,
		Secrets:     e.Secrets,
		Recipient:   e.Recipient,
		RequestedBy: requesterOutput{ID: e.RequestedBy, Email: orNull(e.Requester)},
		State:       e.State,
		Progress:    exportProgress{e.Part, e.RowsDone, e.RowsTotal},
		SizeBytes:   e.SizeBytes,
		SHA256:      e.SHA256,
		Ledger:      ledgerOutput{e.Summary.Exact, e.Summary.Approximate, e.Summary.Lossy, e.Summary.Skipped},
		CreatedAt:   e.CreatedAt.UTC(),
		FinishedAt:  contract.UTC(e.FinishedAt),
		ExpiresAt:   contract.UTC(e.ExpiresAt),
		Error:       e.Problem,
	}
	if e.State == exports.Ready {
		out.DownloadURL = h.Web.Config.PublicURL + "/api/v1/exports/" + e.ID + "/download"
	}
	return out
}

func (h *Handler) listExports(ctx context.Context, in *struct {
	ProjectRef
	Page
	State  string `query:"state" enum:"queued,building,ready,failed,expired,cancelled"`
	Format string `query:"format" enum:"data,gateway"`
	Sort   string `query:"sort" enum:"created,-created,size,-size" doc:"Order; - begins at the end; default: -created"`
}) (*body[list[exportOutput]], error) {
	filter := models.ExportFilter{State: in.State, Format: in.Format}
	found, err := h.Exports.List(ctx, web.Principal(ctx), in.Project, filter, in.sorted(in.Sort, ""))
	return answerPage(found, err, h.showExport)
}

func (h *Handler) createExport(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Format    string `json:"format" doc:"data, or gateway for a zip that runs on Kong"`
		Keys      string `json:"keys,omitempty" minLength:"1" doc:"hashes (default): existing keys keep working; mint: adds new keys; none (the only one, and default, without consumers)"`
		Consumers *bool  `json:"consumers,omitempty" doc:"false leaves out users with their identities, groups and API keys; not with keys hashes or mint"`
		Secrets   bool   `json:"secrets,omitempty" doc:"Includes the secrets that others gave to the team"`
		Recipient string `json:"recipient,omitempty" minLength:"1" doc:"Public key of age (age1…) that secrets are encrypted to"`
		Password  string `json:"password,omitempty" doc:"Of the account; with secrets, unless it has none and signed in within five minutes"`
	}
}) (*body[exportOutput], error) {
	options := exports.Options{
		Format:    in.Body.Format,
		Keys:      in.Body.Keys,
		Consumers: in.Body.Consumers == nil || *in.Body.Consumers,
		Secrets:   in.Body.Secrets,
		Recipient: in.Body.Recipient,
		Password:  secrets.Secret(in.Body.Password),
	}
	e, err := h.Exports.Request(ctx, web.Principal(ctx), in.Project, options)
	if err != nil {
		return nil, err
	}
	return &body[exportOutput]{h.showExport(e)}, nil
}

func (h *Handler) getExport(ctx context.Context, in *ExportRef) (*body[exportOutput], error) {
	e, err := h.Exports.Get(ctx, web.Principal(ctx), in.Export)
	if err != nil {
		return nil, err
	}
	return &body[exportOutput]{h.showExport(e)}, nil
}

func (h *Handler) cancelExport(ctx context.Context, in *ExportRef) (*body[exportOutput], error) {
	e, err := h.Exports.Cancel(ctx, web.Principal(ctx), in.Export)
	if err != nil {
		return nil, err
	}
	return &body[exportOutput]{h.showExport(e)}, nil
}

// showExportKeys answers with the public keys that `postern verify --signed-by` verifies
// exports with, as PEM (RFC 8410).
func (h *Handler) showExportKeys(c *gin.Context) {
	keys, err := h.Exports.PublicKeys(c.Request.Context())
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	c.Header("Cache-Control", "public, max-age=300")
	c.Data(http.StatusOK, "application/x-pem-file", keys)
}

// followExport streams an export while it is built.
func (h *Handler) followExport(c *gin.Context) {
	h.Web.StreamExport(c, h.Exports, func(e exports.Export) (string, []byte, error) {
		data, err := json.Marshal(h.showExport(e))
		return "", data, err
	})
}

func (h *Handler) downloadExport(c *gin.Context) { h.Web.ServeExport(c, h.Exports) }

func (h *Handler) downloadLedger(c *gin.Context) { h.Web.ServeLedger(c, h.Exports) }
