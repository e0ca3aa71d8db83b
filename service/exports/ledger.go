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

// Ledger is the ledger of a finished export, summed up by codes. It outlasts the zip.
type Ledger struct {
	Export    contract.Export
	Lines     []Line
	Forgotten bool // the zip is gone, and with it the names of keys and of people
}

// Line sums up the items of a ledger that have one code.
type Line = bundle.Line

// LedgerFilter selects lines of a ledger. Empty fields select all.
type LedgerFilter struct {
	Status string
	Area   string // see bundle.Areas
	Code   string
}

// check refuses values that no line can have.
func (f LedgerFilter) check() error {
	statuses := []bundle.Status{bundle.Exact, bundle.Approximate, bundle.Lossy, bundle.Skipped}
	if f.Status != "" && !slices.Contains(statuses, bundle.Status(f.Status)) {
		return fault.InvalidField("/status", "invalid_status", "Use exact, approximate, lossy or skipped.")
	}
	known := func(a bundle.AreaTitle) bool { return string(a.Area) == f.Area }
	if f.Area != "" && !slices.ContainsFunc(bundle.Areas(), known) {
		return fault.InvalidField("/area", "invalid_area", "%q is no area of a ledger.", f.Area)
	}
	return nil
}

// Selects reports whether the filter selects a line.
func (f LedgerFilter) Selects(l Line) bool {
	return (f.Status == "" || f.Status == string(l.Status)) &&
		(f.Area == "" || f.Area == string(bundle.AreaOf(l.Kind))) &&
		(f.Code == "" || f.Code == l.Code)
}

// Ledger returns the lines of an export's ledger that a filter selects. An export that is not
// finished, or ended without a zip, is refused as Conflict with the code no_ledger.
func (s *Service) Ledger(ctx context.Context, p access.Principal, id string, filter LedgerFilter) (Ledger, error) {
	tx := s.DB.Read(ctx)
	row, parent, err := s.find(tx, p, id, access.ExportRead)
	if err != nil {
		return Ledger{}, fmt.Errorf("exports: ledger of %s: %w", id, err)
	}
	if err := filter.check(); err != nil {
		return Ledger{}, err
	}
	out := Ledger{Export: s.shown(row, parent.Name)}
	if out.Export.State != contract.ExportReady && out.Export.State != contract.ExportExpired {
		return Ledger{}, fault.New(fault.Conflict, "no_ledger",
			"This export is %s; an export has a ledger once it is ready.", row.State)
	}
	document, err := tx.ExportLedgerOf(id)
	var lines []Line
	if err == nil {
		lines, err = unpacked(document)
	}
	if err != nil {
		return Ledger{}, fmt.Errorf("exports: ledger of %s: %w", id, err)
	}
	if out.Forgotten = out.Export.State == contract.ExportExpired; out.Forgotten {
		lines = withoutPeople(lines) // the upkeep may be late
	}
	for _, line := range lines {
		if filter.Selects(line) {
			out.Lines = append(out.Lines, line)
		}
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
func withoutPeople(lines []Line) []Line {
	for i := range lines {
		if lines[i].People {
			lines[i].Names = nil
		}
	}
	return lines
}

// packed returns lines as they are stored: as gzipped JSON.
func packed(lines []Line) ([]byte, error) {
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

func unpacked(document []byte) ([]Line, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("unpack a ledger: %w", err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		return nil, fmt.Errorf("unpack a ledger: %w", err)
	}
	var lines []Line
	if err := json.Unmarshal(text, &lines); err != nil {
		return nil, fmt.Errorf("unpack a ledger: %w", err)
	}
	return lines, nil
}
