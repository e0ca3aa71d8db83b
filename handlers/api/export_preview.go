package api

import (
	"context"

	"postern/bundle"
	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/exports"
)

type previewOutput struct {
	Format  string                `json:"format"`
	Ledger  contract.LedgerCounts `json:"ledger" doc:"Number of items by how exactly they would be exported"`
	Partial bool                  `json:"partial" doc:"Only the first keys were counted, because there are very many"`
	Items   []ledgerLineOutput    `json:"items" doc:"The items by their code, in the order of the ledger"`
}

func (h *Handler) previewExport(ctx context.Context, in *struct {
	ProjectRef
	Format    string `query:"format" doc:"data, or gateway for a zip that runs on Kong" example:"gateway"`
	Keys      string `query:"keys" doc:"hashes (default), mint, or none (the only one, and default, without consumers)"`
	Consumers bool   `query:"consumers" default:"true" doc:"false leaves out users with their identities, groups and API keys"`
	Secrets   bool   `query:"secrets" doc:"With the secrets that others gave to the team"`
}) (*body[previewOutput], error) {
	found, err := h.Exports.Preview(ctx, web.Principal(ctx), in.Project, exports.Options{
		Format:    in.Format,
		Keys:      in.Keys,
		Consumers: in.Consumers,
		Secrets:   in.Secrets,
	})
	if err != nil {
		return nil, err
	}
	return &body[previewOutput]{previewOutput{
		Format:  in.Format,
		Ledger:  contract.LedgerCounts(found.Summary),
		Partial: found.Partial,
		Items:   showLines(found.Lines),
	}}, nil
}

func showLines(lines []bundle.Line) []ledgerLineOutput {
	out := make([]ledgerLineOutput, 0, len(lines))
	for _, l := range lines {
		out = append(out, showLedgerLine(l, bundle.PreviewNames))
	}
	return out
}
