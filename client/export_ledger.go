package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"postern/platform/fault"
)

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

// DownloadLedger writes the whole ledger of a ready export to w, item by item, as JSON. After an
// error, the caller discards what was written.
func (c *Client) DownloadLedger(ctx context.Context, id string, w io.Writer) error {
	response, err := c.send(ctx, http.MethodGet, nil, "", []string{"api", "v1", "exports", id, "ledger", "download"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	from := &source{Reader: response.Body}
	_, err = io.Copy(w, from)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case from.failed != nil: // also of a response that ended early
		return fault.New(fault.Unavailable, "download_cut_off", "The download broke off. Try again.").
			Because(from.failed)
	case err != nil:
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
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
