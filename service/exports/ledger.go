package exports

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Ledger is the ledger of a finished export, summarized by code. It is kept longer than the zip.
type Ledger struct {
	Export    contract.Export
	Lines     []contract.LedgerLine
	Forgotten bool // the zip was deleted, and with it the names of keys and people

	nameless map[string]bool // lines whose names are gone, by their codes
}

// Nameless reports whether the names of a line were deleted with the zip.
func (l Ledger) Nameless(code string) bool { return l.nameless[code] }

// LedgerLines returns a page of the lines of an export's ledger. Its cursor is the code of the previous page's last
// line. Errors are those of Ledger.
func (s *Service) LedgerLines(
	ctx context.Context, p access.Principal, in contract.LedgerList,
) (models.List[contract.LedgerLine], error) {
	var none models.List[contract.LedgerLine]
	found, err := s.Ledger(ctx, p, in.ExportPath)
	if err != nil {
		return none, err
	}
	var lines []contract.LedgerLine
	for _, line := range found.Lines {
		if in.Selects(line) {
			line.Names = line.Names[:min(in.Names, len(line.Names))]
			lines = append(lines, line)
		}
	}
	if in.Cursor != "" {
		at := slices.IndexFunc(lines, func(l contract.LedgerLine) bool { return l.Code == in.Cursor })
		if at < 0 {
			return none, models.ErrCursor
		}
		lines = lines[at+1:]
	}
	return models.Cut(lines, models.PageOf(in.Page, "", ""), func(l contract.LedgerLine) string { return l.Code }), nil
}

// Ledger returns the ledger of an export. It returns Conflict with the code no_ledger for an export that isn't finished
// or ended without a zip.
func (s *Service) Ledger(ctx context.Context, p access.Principal, in contract.ExportPath) (Ledger, error) {
	id := in.Export
	tx := s.DB.Read(ctx)
	row, parent, err := s.find(tx, p, id, access.ExportRead)
	if err != nil {
		return Ledger{}, fmt.Errorf("exports: ledger of %s: %w", id, err)
	}
	out := Ledger{Export: s.shown(row, parent.Name)}
	if out.Export.State != contract.ExportReady && out.Export.State != contract.ExportExpired {
		return Ledger{}, fault.New(fault.Conflict, "no_ledger",
			"This export's state is %s. Only ready and expired exports have a ledger.", row.State)
	}
	document, err := tx.ExportLedgerOf(id)
	var lines []bundle.Line
	if err == nil {
		lines, err = unpacked(document)
	}
	if err != nil {
		return Ledger{}, fmt.Errorf("exports: ledger of %s: %w", id, err)
	}
	if out.Forgotten = out.Export.State == contract.ExportExpired; out.Forgotten {
		lines = withoutPeople(lines) // the upkeep may be late
	}
	out.nameless = map[string]bool{}
	for _, line := range lines {
		out.Lines = append(out.Lines, line.LedgerLine)
		out.nameless[line.Code] = out.Forgotten && line.People
	}
	return out, nil
}

// forgetPeople removes the names of keys and people from the ledger of an export, since they
// must not outlast the zip.
func forgetPeople(tx *models.Tx, id string) error {
	document, err := tx.ExportLedgerOf(id)
	if err != nil || document == nil {
		return err
	}
	lines, err := unpacked(document)
	if err != nil {
		return err
	}
	if document, err = packed(withoutPeople(lines)); err != nil {
		return err
	}
	return tx.ReplaceExportLedger(id, document)
}

// withoutPeople removes the names of keys and people from lines, in place.
func withoutPeople(lines []bundle.Line) []bundle.Line {
	for i := range lines {
		if lines[i].People {
			lines[i].Names = []string{}
		}
	}
	return lines
}

// packed returns lines in their stored form, gzipped JSON.
func packed(lines []bundle.Line) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	if err := json.NewEncoder(zipped).Encode(lines); err != nil {
		return nil, fmt.Errorf("pack a ledger: %w", err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("pack a ledger: %w", err)
	}
	return out.Bytes(), nil
}

func unpacked(document []byte) ([]bundle.Line, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("unpack a ledger: %w", err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		return nil, fmt.Errorf("unpack a ledger: %w", err)
	}
	var lines []bundle.Line
	if err := json.Unmarshal(text, &lines); err != nil {
		return nil, fmt.Errorf("unpack a ledger: %w", err)
	}
	return lines, nil
}
