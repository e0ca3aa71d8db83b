package contract

import (
	"net/http"
	"strconv"
)

// LedgerCounts has the numbers of items of an export by status, which says how exactly they move.
type LedgerCounts struct {
	Exact       int64 `json:"exact"`
	Approximate int64 `json:"approximate"`
	Lossy       int64 `json:"lossy"`
	Skipped     int64 `json:"skipped"`
}

// Add counts n items with a status.
func (c *LedgerCounts) Add(status string, n int64) {
	switch status {
	case "exact":
		c.Exact += n
	case "approximate":
		c.Approximate += n
	case "lossy":
		c.Lossy += n
	case "skipped":
		c.Skipped += n
	}
}

// Total returns the number of all items.
func (c LedgerCounts) Total() int64 { return c.Exact + c.Approximate + c.Lossy + c.Skipped }

// LedgerTotals counts all items of an export, and those that the team configured.
type LedgerTotals struct {
	LedgerCounts
	Configured LedgerCounts `json:"configured" doc:"Items that exist because your team configured something. All other items are the same for every project"`
}

// Add counts n items with a status.
func (t *LedgerTotals) Add(status string, configured bool, n int64) {
	t.LedgerCounts.Add(status, n)
	if configured {
		t.Configured.Add(status, n)
	}
}

// Portable returns the percentage of configured items that are exact, rounded down, or false if nothing is configured.
func (t LedgerTotals) Portable() (percent int64, ok bool) {
	of := t.Configured.Total()
	if of == 0 {
		return 0, false
	}
	return t.Configured.Exact * 100 / of, true
}

// PortableText returns Portable as a headline with the target of an export in this format, such as "92% portable to
// Kong", and "" if nothing is configured.
func (t LedgerTotals) PortableText(format string) string {
	percent, ok := t.Portable()
	if !ok {
		return ""
	}
	text := strconv.FormatInt(percent, 10) + "% portable"
	switch format {
	case "gateway":
		return text + " to Kong"
	case "data":
		return text + " as data"
	}
	return text
}

// Headline says how many of the configured items move unchanged, such as "11 of the 12 items that you configured move
// unchanged".
func (t LedgerTotals) Headline() string {
	switch exact, all := t.Configured.Exact, t.Configured.Total(); {
	case all == 0:
		return "you haven't configured anything yet"
	case all == 1 && exact == 1:
		return "the one item that you configured moves unchanged"
	case all == 1:
		return "the one item that you configured doesn't move unchanged"
	case exact == all:
		return "all " + grouped(all) + " items that you configured move unchanged"
	case exact == 1:
		return "1 of the " + grouped(all) + " items that you configured moves unchanged"
	default:
		return grouped(exact) + " of the " + grouped(all) + " items that you configured move unchanged"
	}
}

// grouped writes a count with commas between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Everywhere returns the number of items that are the same for every project.
func (t LedgerTotals) Everywhere() int64 { return t.Total() - t.Configured.Total() }

// LedgerLine sums up the items of a ledger that have one code.
type LedgerLine struct {
	Code       string   `json:"code" doc:"<target>.<kind>.<reason>" example:"kong.key.expires"`
	Kind       string   `json:"kind" doc:"Kind of the items, such as key"`
	Title      string   `json:"title" doc:"Readable name of the items, such as API keys"`
	Area       string   `json:"area" doc:"Area of the project. See the area parameter"`
	Status     string   `json:"status" enum:"exact,approximate,lossy,skipped"`
	Configured bool     `json:"configured" doc:"True if the items exist because your team configured something, false if every project has them"`
	Note       string   `json:"note" doc:"How the items are exported"`
	Remedy     *string  `json:"remedy" doc:"Action that you need to take; null if there is none"`
	Count      int64    `json:"count" doc:"Number of items"`
	Names      []string `json:"names" doc:"Names of the first items. Names of keys and people are removed when the zip expires"`
}

// LedgerFilter selects lines of a ledger; empty members select all.
type LedgerFilter struct {
	Status string `query:"status" enum:"exact,approximate,lossy,skipped" doc:"Only items with this status"`
	Area   string `query:"area" enum:"project,upstream,access,keys,login,people,records" doc:"Only items in this area"`
	Code   string `query:"code" doc:"Only items with this code"`
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
	Names int `query:"names" minimum:"0" maximum:"1000" default:"20" doc:"Maximum number of names per line"`
}

// ExportPreview is the ledger that an export would have if it ran now.
type ExportPreview struct {
	Format  string       `json:"format"`
	Ledger  LedgerTotals `json:"ledger" doc:"Number of items by status (how exactly they would be exported)"`
	Partial bool         `json:"partial" doc:"True if there are too many keys to count and only the first ones were counted"`
	Items   []LedgerLine `json:"items" doc:"Items by code, in the order of the ledger"`
}

// ExportPreviewOptions are the choices for a preview: those of the export.
type ExportPreviewOptions struct {
	ProjectPath
	Format    string `query:"format" doc:"data, or gateway for a zip that runs on Kong" example:"gateway"`
	Keys      string `query:"keys" doc:"hashes, mint or none. Defaults to hashes, or to none without consumers"`
	Consumers bool   `query:"consumers" default:"true" doc:"Include users and their identities, groups and API keys"`
	Secrets   bool   `query:"secrets" doc:"Include your team's secrets for other systems, such as identity providers and upstreams"`
}

// The operations on ledgers and previews of exports.
var (
	PreviewExport = &Op[ExportPreviewOptions, ExportPreview]{Operation{
		ID: "preview-export", Method: http.MethodGet, Path: project + "/exports/preview",
		Summary: "Preview an export's ledger", Permission: ReadExports,
		Doc: "Returns the ledger that an export with these options would have. Nothing is exported.",
	}}
	GetExportLedger = &Op[LedgerList, List[LedgerLine]]{Operation{
		ID: "get-export-ledger", Method: http.MethodGet, Path: export + "/ledger",
		Summary: "Get an export's ledger", Permission: ReadExports, Command: "exports ledger EXPORT",
		Doc: "Returns how exactly each item of the project was exported, grouped by code. The ledger remains " +
			"available after the zip expires.",
	}}
	DownloadExportLedger = &Op[ExportPath, File]{Operation{
		ID: "download-export-ledger", Method: http.MethodGet, Path: export + "/ledger/download",
		Summary: "Download an export's full ledger", Command: "exports ledger EXPORT",
		Permission: DownloadExports, Answer: "application/json",
		Doc: "Returns MIGRATION-REPORT.json from the zip, with every item. It is available until the zip expires.",
	}}
)
