package api

import (
	"context"
	"slices"

	"postern/bundle"
	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/exports"
)

type ledgerLineOutput struct {
	Code   string   `json:"code" doc:"<target>.<kind>.<reason>" example:"kong.key.expires"`
	Kind   string   `json:"kind" doc:"For example key"`
	Title  string   `json:"title" doc:"What people call the kind, for example API keys"`
	Area   string   `json:"area" doc:"See the parameter area"`
	Status string   `json:"status" enum:"exact,approximate,lossy,skipped"`
	Note   string   `json:"note" doc:"What becomes of the items"`
	Remedy *string  `json:"remedy" doc:"What to do about it; null if there is nothing to do"`
	Count  int64    `json:"count" doc:"Number of items"`
	Names  []string `json:"names" doc:"Of the first items. Those of keys and of people are dropped when the zip expires"`
}

// LedgerFilter is the query of a ledger. It is exported because huma ignores embedded types that
// are not.
type LedgerFilter struct {
	Status string `query:"status" enum:"exact,approximate,lossy,skipped"`
	Area   string `query:"area" enum:"project,upstream,access,keys,login,people,records"`
	Code   string `query:"code"`
	Names  int    `query:"names" default:"20" minimum:"0" maximum:"1000" doc:"The most names of each line"`
}

// getExportLedger answers with a page of the ledger's lines. The cursor is the code of the last
// line before the page.
func (h *Handler) getExportLedger(ctx context.Context, in *struct {
	ExportRef
	LedgerFilter
	Page
}) (*body[list[ledgerLineOutput]], error) {
	found, err := h.Exports.Ledger(ctx, web.Principal(ctx), in.Export, exports.LedgerFilter{
		Status: in.Status,
		Area:   in.Area,
		Code:   in.Code,
	})
	if err != nil {
		return nil, err
	}
	lines, page := found.Lines, in.page()
	if page.Cursor != "" {
		at := slices.IndexFunc(lines, func(l exports.Line) bool { return l.Code == page.Cursor })
		if at < 0 {
			return nil, models.ErrCursor
		}
		lines = lines[at+1:]
	}
	cut := models.Cut(lines, page, func(l exports.Line) string { return l.Code })
	return answerPage(cut, nil, func(l exports.Line) ledgerLineOutput { return showLedgerLine(l, in.Names) })
}

func showLedgerLine(l exports.Line, names int) ledgerLineOutput {
	return ledgerLineOutput{
		Code:   l.Code,
		Kind:   string(l.Kind),
		Title:  bundle.TitleOf(l.Kind),
		Area:   string(bundle.AreaOf(l.Kind)),
		Status: string(l.Status),
		Note:   l.Note,
		Remedy: contract.OrNull(l.Remedy),
		Count:  l.Count,
		Names:  append([]string{}, l.Names[:min(names, len(l.Names))]...),
	}
}
