package contract

import "net/http"

// LedgerLine sums up the items of a ledger that have one code.
type LedgerLine struct {
	Code   string   `json:"code" doc:"<target>.<kind>.<reason>" example:"kong.key.expires"`
	Kind   string   `json:"kind" doc:"Kind of the items, such as key"`
	Title  string   `json:"title" doc:"Name of the kind for people, such as API keys"`
	Area   string   `json:"area" doc:"See the parameter area"`
	Status string   `json:"status" enum:"exact,approximate,lossy,skipped"`
	Note   string   `json:"note" doc:"What becomes of the items"`
	Remedy *string  `json:"remedy" doc:"What to do about it; null if there is nothing to do"`
	Count  int64    `json:"count" doc:"Number of items"`
	Names  []string `json:"names" doc:"Names of the first items. Those of keys and people are removed when the zip expires"`
}

// LedgerFilter selects lines of a ledger; empty members select all.
type LedgerFilter struct {
	Status string `query:"status" enum:"exact,approximate,lossy,skipped" doc:"Only items with this status"`
	Area   string `query:"area" enum:"project,upstream,access,keys,login,people,records" doc:"Only items about this"`
	Code   string `query:"code" doc:"Only the items of this code"`
}

// Selects reports whether the filter selects a line.
func (f LedgerFilter) Selects(l LedgerLine) bool {
	return (f.Status == "" || f.Status == l.Status) && (f.Area == "" || f.Area == l.Area) &&
		(f.Code == "" || f.Code == l.Code)
}

// LedgerList is a request for the ledger of an export.
type LedgerList struct {
	ExportPath
	Page
	LedgerFilter
	Names int `query:"names" minimum:"0" maximum:"1000" default:"20" doc:"Maximum number of names of each line"`
}

// ExportPreview is what the ledger of an export would say.
type ExportPreview struct {
	Format  string       `json:"format"`
	Ledger  LedgerCounts `json:"ledger" doc:"Number of items by how exactly they would be exported"`
	Partial bool         `json:"partial" doc:"Only the first keys were counted, because there are very many"`
	Items   []LedgerLine `json:"items" doc:"Items by their code, in the order of the ledger"`
}

// ExportPreviewOptions are the choices for a preview: those of the export.
type ExportPreviewOptions struct {
	ProjectPath
	Format    string `query:"format" doc:"data, or gateway for a zip that runs on Kong" example:"gateway"`
	Keys      string `query:"keys" doc:"hashes (default), mint, or none (the only one, and default, without consumers)"`
	Consumers bool   `query:"consumers" default:"true" doc:"false leaves out users with their identities, groups and API keys"`
	Secrets   bool   `query:"secrets" doc:"Includes the secrets that others gave to the team"`
}

// The operations on what an export leaves behind.
var (
	PreviewExport = Op[ExportPreviewOptions, ExportPreview]{Operation{
		ID: "preview-export", Method: http.MethodGet, Path: project + "/exports/preview",
		Summary: "Preview the ledger of an export", Permission: ReadExports,
		Doc: "Says what an export with these options would move, and how exactly. Nothing is exported.",
	}}
	GetExportLedger = Op[LedgerList, List[LedgerLine]]{Operation{
		ID: "get-export-ledger", Method: http.MethodGet, Path: export + "/ledger",
		Summary: "Get the ledger of an export", Permission: ReadExports, Command: "exports ledger EXPORT",
		Doc: "Says how exactly the items of the project were exported, summed up by codes. It outlasts the zip.",
	}}
	DownloadExportLedger = Op[ExportPath, File]{Operation{
		ID: "download-export-ledger", Method: http.MethodGet, Path: export + "/ledger/download",
		Summary: "Download the whole ledger of an export", Command: "exports ledger EXPORT",
		Permission: DownloadExports, Answer: "application/json",
		Doc: "MIGRATION-REPORT.json out of the zip, with every item. It is gone when the zip expires.",
	}}
)
