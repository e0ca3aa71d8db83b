package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// Exports iterates over the exports of a project, newest first, page by page. It ends after the
// first error.
func (c *Client) Exports(ctx context.Context, project string) iter.Seq2[Export, error] {
	return pagesOf[Export](ctx, c, url.Values{}, "api", "v1", "projects", project, "exports")
}

// LedgerLine sums up the items of a ledger with one code.
type LedgerLine struct {
	Code   string   `json:"code"`
	Kind   string   `json:"kind"`
	Title  string   `json:"title"` // what people call the kind
	Area   string   `json:"area"`
	Status string   `json:"status"` // exact, approximate, lossy or skipped
	Note   string   `json:"note"`
	Remedy *string  `json:"remedy"`
	Count  int64    `json:"count"`
	Names  []string `json:"names"` // of the first items
}

// LedgerFilter selects lines of a ledger. Empty fields select all.
type LedgerFilter struct {
	Status string
	Area   string // project, upstream, access, keys, login, people or records
	Code   string
	Names  int // the most names of each line, up to 1000
}

// ExportLedger iterates over the ledger of a finished export, which outlasts the zip.
func (c *Client) ExportLedger(ctx context.Context, id string, f LedgerFilter) iter.Seq2[LedgerLine, error] {
	query := url.Values{"names": {strconv.Itoa(f.Names)}}
	for name, value := range map[string]string{"status": f.Status, "area": f.Area, "code": f.Code} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return pagesOf[LedgerLine](ctx, c, query, "api", "v1", "exports", id, "ledger")
}
