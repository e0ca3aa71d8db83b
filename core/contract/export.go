package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// ExportPath is the path parameter of an export.
type ExportPath struct {
	Export string `path:"export" doc:"ID of the export"`
}

// Export is an export of a project and its progress.
type Export struct {
	ID          string         `json:"id"`
	Project     string         `json:"project" doc:"ID of the project"`
	ProjectName string         `json:"-"` // only for the dashboard
	Format      string         `json:"format"`
	Keys        string         `json:"keys"`
	Consumers   bool           `json:"consumers"`
	Secrets     bool           `json:"secrets"`
	Recipient   string         `json:"recipient,omitempty"`
	RequestedBy Requester      `json:"requested_by" doc:"Account or key that requested the export"`
	State       string         `json:"state" enum:"queued,building,ready,failed,expired,cancelled"`
	Progress    ExportProgress `json:"progress"`
	SizeBytes   int64          `json:"size_bytes"`
	SHA256      string         `json:"sha256"`
	Ledger      LedgerTotals   `json:"ledger" doc:"Number of items by status (how exactly they were exported)"`
	DownloadURL string         `json:"download_url,omitempty" doc:"URL of the zip. Present once the export is ready. Requires the same credentials as this request"`
	CreatedAt   time.Time      `json:"created_at"`
	FinishedAt  *time.Time     `json:"finished_at"`
	ExpiresAt   *time.Time     `json:"expires_at" doc:"When the download expires"`
	Error       string         `json:"error,omitempty"`
}

// Path returns its path parameter.
func (e Export) Path() ExportPath { return ExportPath{Export: e.ID} }

// Contents says which data the zip has in addition to the configuration.
func (e Export) Contents() string {
	keys, users, secrets := "API keys", "users", "no secrets"
	switch e.Keys {
	case "mint":
		keys = "existing and new API keys"
	case "none":
		keys = "no API keys"
	}
	if !e.Consumers {
		users = "no users"
	}
	if e.Secrets && e.Recipient != "" {
		secrets = "encrypted secrets"
	} else if e.Secrets {
		secrets = "secrets"
	}
	return keys + ", " + users + ", " + secrets
}

// Requester is the account or token that requested an export.
type Requester struct {
	ID    string  `json:"id" doc:"ID of an account or workspace_key:<team>. Empty for exports by older servers"`
	Email *string `json:"email" doc:"Email address; null if the account isn't in the team"`
}

// ExportProgress is how far an export has come. RowsTotal is 0 before it is known.
type ExportProgress struct {
	Part      string `json:"part" doc:"Current step of the export, or the resource that the export is waiting for"`
	RowsDone  int64  `json:"rows_done"`
	RowsTotal int64  `json:"rows_total"`
}

// States of exports. An export is queued, then building, then ready or failed. A ready one
// expires. A queued or building one can be canceled.
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
	Sort   string `query:"sort" enum:"created,-created,size,-size" doc:"Sort order. A leading - means descending. Defaults to -created"`
}

// NewExport is an export to be built.
type NewExport struct {
	Format    string `json:"format" doc:"data, or gateway for a zip that runs on Kong"`
	Keys      string `json:"keys,omitempty" minLength:"1" doc:"hashes keeps existing keys working; mint also adds new keys; none leaves keys out. Defaults to hashes, or to none without consumers"`
	Consumers *bool  `json:"consumers,omitempty" doc:"Include users and their identities, groups and API keys. false requires keys to be none. Defaults to true"`
	Secrets   bool   `json:"secrets,omitempty" doc:"Include your team's secrets for other systems, such as identity providers and upstreams"`
	Recipient string `json:"recipient,omitempty" minLength:"1" doc:"age public key (age1…) that secrets are encrypted to"`
	Password  Secret `json:"password,omitempty" doc:"Account password. Required to export secrets, unless the account has no password and signed in within the last five minutes"`
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
	ListExports = &Op[ExportList, List[Export]]{Operation{
		ID: "list-exports", Method: http.MethodGet, Path: project + "/exports", Summary: "List a project's exports",
		Command: "exports list PROJECT",
		Example: "exports list shop --state ready", Permission: ReadExports,
		Doc: "Lists the project's exports, newest first.",
	}}
	CreateExport = &Op[ExportCreation, Export]{Operation{
		ID: "create-export", Method: http.MethodPost, Path: project + "/exports", Status: http.StatusAccepted,
		Summary: "Create an export", Command: "export PROJECT", Permission: CreateExports,
		Doc: "Queues the export. Poll it or follow its events until it is ready, then download the zip.",
	}}
	GetExport = &Op[ExportPath, Export]{Operation{
		ID: "get-export", Method: http.MethodGet, Path: export, Summary: "Get an export", Permission: ReadExports,
		Command: "exports show EXPORT",
		Doc:     "Returns the state and progress of the export and, once it is ready, the totals of its ledger.",
	}}
	CancelExport = &Op[ExportPath, Export]{Operation{
		ID: "cancel-export", Method: http.MethodPost, Path: export + "/cancel", Summary: "Cancel an export",
		Command: "exports cancel EXPORT", Permission: CreateExports,
		Doc: "You can cancel an export until it is ready.",
	}}
	FollowExport = &Op[ExportPath, Events[Export]]{Operation{
		ID: "follow-export", Method: http.MethodGet, Path: export + "/events",
		Summary: "Follow an export while it is built", Permission: ReadExports, Answer: EventStream,
		Doc: "Returns a stream of server-sent events. The data of each event is the export as JSON. Events are sent " +
			"at the start, after each change, and every 15 seconds. The stream ends when the export is finished, and " +
			"after a minute at the latest. Reconnect to continue.",
	}}
	DownloadExport = &Op[ExportPath, File]{Operation{
		ID: "download-export", Method: http.MethodGet, Path: export + "/download",
		Summary: "Download the zip of an export", Permission: DownloadExports, Answer: Zip, Ranges: true,
		Command: "exports download EXPORT", Example: "exports download exp_01jd -o shop.zip",
		Doc: "Supports Range and If-Range requests. Every download is recorded in the audit log.",
	}}
)

// Zip is the media type of a zip.
const Zip = "application/zip"

var exportOperations = []Described{
	ListExports, CreateExport, GetExport, CancelExport, FollowExport, DownloadExport, PreviewExport, GetExportLedger,
	DownloadExportLedger,
}
