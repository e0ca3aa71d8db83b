package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"postern/core/contract"
)

// ExportPreview is what the ledger of an export would say.
type ExportPreview struct {
	Format  string                `json:"format"`
	Ledger  contract.LedgerCounts `json:"ledger"`
	Partial bool                  `json:"partial"` // only the first keys were counted
	Items   []LedgerLine          `json:"items"`
}

// PreviewExport returns what the ledger of an export would say. Nothing is exported.
func (c *Client) PreviewExport(ctx context.Context, project string, in contract.NewExport) (ExportPreview, error) {
	query := url.Values{"format": {in.Format}}
	if in.Keys != "" {
		query.Set("keys", in.Keys)
	}
	if in.Consumers != nil && !*in.Consumers {
		query.Set("consumers", "false")
	}
	query.Set("secrets", strconv.FormatBool(in.Secrets))
	return exchange[ExportPreview](ctx, c, http.MethodGet, nil, "?"+query.Encode(),
		[]string{"api", "v1", "projects", project, "exports", "preview"})
}
