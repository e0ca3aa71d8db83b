package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// ExportPath is the path parameter of an export.
type ExportPath struct {
	Export string `path:"export" doc:"Id of the export"`
}

// Export is an export of a project and its progress.
type Export struct {
	ID          string         `json:"id"`
	Project     string         `json:"project" doc:"Id of the project"`
	ProjectName string         `json:"-"` // for the dashboard alone
	Format      string         `json:"format"`
	Keys        string         `json:"keys"`
	Consumers   bool           `json:"consumers"`
	Secrets     bool           `json:"secrets"`
	Recipient   string         `json:"recipient,omitempty"`
	RequestedBy Requester      `json:"requested_by" doc:"Who asked for it"`
	State       string         `json:"state" enum:"queued,building,ready,failed,expired,cancelled"`
	Progress    ExportProgress `json:"progress"`
	SizeBytes   int64          `json:"size_bytes"`
	SHA256      string         `json:"sha256"`
	Ledger      LedgerCounts   `json:"ledger" doc:"Number of items by how exactly they were exported"`
	DownloadURL string         `json:"download_url,omitempty" doc:"Present when ready; requires the same credentials"`
	CreatedAt   time.Time      `json:"created_at"`
	FinishedAt  *time.Time     `json:"finished_at"`
	ExpiresAt   *time.Time     `json:"expires_at" doc:"When the download ends"`
	Error       string         `json:"error,omitempty"`
}

// Path returns its path parameter.
func (e Export) Path() ExportPath { return ExportPath{Export: e.ID} }

// Requester is who asked for an export.
type Requester struct {
	ID    string  `json:"id" doc:"An account's id, workspace_key:<team>, or empty for exports of older servers"`
	Email *string `json:"email" doc:"E-mail address if the account is in the team; else null"`
}

// ExportProgress is how far an export has come. RowsTotal is 0 before it is known.
type ExportProgress struct {
	Part      string `json:"part" doc:"What is being written, or what the export waits for"`
	RowsDone  int64  `json:"rows_done"`
	RowsTotal int64  `json:"rows_total"`
}

// LedgerCounts are the numbers of items of an export by how exactly they moved.
type LedgerCounts struct {
	Exact       int64 `json:"exact"`
	Approximate int64 `json:"approximate"`
	Lossy       int64 `json:"lossy"`
	Skipped     int64 `json:"skipped"`
}

// States of exports. An export is queued, then building, then ready or failed. A ready one
// expires. A queued or building one can be cancelled.
const (
	ExportQueued    = "queued"
	ExportBuilding  = "building"
	ExportReady     = "ready"
	ExportFailed    = "failed"
	ExportExpired   = "expired"
	ExportCancelled = "cancelled"
)

// Running reports whether the export is not finished.
func (e Export) Running() bool { return e.State == ExportQueued || e.State == ExportBuilding }

// ExportList is a request for the exports of a project.
type ExportList struct {
	ProjectPath
	Page
	State  string `query:"state" enum:"queued,building,ready,failed,expired,cancelled" doc:"Only exports in this state"`
	Format string `query:"format" enum:"data,gateway" doc:"Only exports in this format"`
	Sort   string `query:"sort" enum:"created,-created,size,-size" doc:"Order; - begins at the end; default: -created"`
}

// NewExport is an export to be built.
type NewExport struct {
	Format    string `json:"format" doc:"data, or gateway for a zip that runs on Kong"`
	Keys      string `json:"keys,omitempty" minLength:"1" doc:"hashes (default): existing keys keep working; mint: adds new keys; none (the only one, and default, without consumers)"`
	Consumers *bool  `json:"consumers,omitempty" doc:"false leaves out users with their identities, groups and API keys; not with keys hashes or mint"`
	Secrets   bool   `json:"secrets,omitempty" doc:"Includes the secrets that others gave to the team"`
	Recipient string `json:"recipient,omitempty" minLength:"1" doc:"Public key of age (age1…) that secrets are encrypted to"`
	Password  Secret `json:"password,omitempty" doc:"Password of the account. Exports with secrets need it, unless the account has no password and signed in within the last five minutes"`
}

// In returns the request for the export of a project, named by name or id.
func (n NewExport) In(project string) ExportCreation {
	return ExportCreation{ProjectPath: ProjectPath{Project: project}, Body: n}
}

// LogValue implements slog.LogValuer.
func (n NewExport) LogValue() slog.Value { return slog.StringValue(n.Format) }

// ExportCreation is a request for an export.
type ExportCreation struct {
	ProjectPath
	Body NewExport
}

// LogValue implements slog.LogValuer.
func (c ExportCreation) LogValue() slog.Value { return slog.StringValue(c.Project) }

const export = "/api/v1/exports/{export}"

// The operations on exports. An export isn't deleted: its zip expires, and its ledger stays. The command export starts
// one, waits for it and saves its zip.
var (
	ListExports = Op[ExportList, List[Export]]{Operation{
		ID: "list-exports", Method: http.MethodGet, Path: project + "/exports", Summary: "List a project's exports",
		Command: "exports list PROJECT", Permission: ReadExports,
		Doc: "Lists the exports of the project, newest first.",
	}}
	CreateExport = Op[ExportCreation, Export]{Operation{
		ID: "create-export", Method: http.MethodPost, Path: project + "/exports", Status: http.StatusAccepted,
		Summary: "Create an export", Command: "export PROJECT", Permission: CreateExports,
		Doc: "Queues the export. Get it, or follow its events, until it is ready, then download the zip.",
	}}
	GetExport = Op[ExportPath, Export]{Operation{
		ID: "get-export", Method: http.MethodGet, Path: export, Summary: "Get an export", Permission: ReadExports,
		Command: "exports show EXPORT",
		Doc:     "Has the state and the progress of the export, and the totals of its ledger once it is ready.",
	}}
	CancelExport = Op[ExportPath, Export]{Operation{
		ID: "cancel-export", Method: http.MethodPost, Path: export + "/cancel", Summary: "Cancel an export",
		Command: "exports cancel EXPORT", Permission: CreateExports,
		Doc: "An export that is queued or being built ends as cancelled. One that is ready stays.",
	}}
	FollowExport = Op[ExportPath, Events[Export]]{Operation{
		ID: "follow-export", Method: http.MethodGet, Path: export + "/events",
		Summary: "Follow an export while it is built", Permission: ReadExports, Answer: EventStream,
		Doc: "A stream of server-sent events. The data of each is the export as JSON: at once, after each change, " +
			"and " +
			"every 15 seconds. The stream ends when the export is finished, and after a minute; connect again then.",
	}}
	DownloadExport = Op[ExportPath, File]{Operation{
		ID: "download-export", Method: http.MethodGet, Path: export + "/download",
		Summary: "Download the zip of an export", Permission: DownloadExports, Answer: Zip, Ranges: true,
		Doc: "With Range, also with If-Range and the ETag, the answer is 206 with a part of the zip. Every download " +
			"is in the audit log.",
	}}
)

// Zip is the media type of a zip.
const Zip = "application/zip"

var exportOperations = []Described{
	ListExports, CreateExport, GetExport, CancelExport, FollowExport, DownloadExport, PreviewExport, GetExportLedger,
	DownloadExportLedger,
}
