package models

import "errors"

// ExportLedger is a row of export_ledgers: the ledger of an export, summarized by code, as gzipped JSON.
type ExportLedger struct {
	ExportID string `gorm:"primaryKey"`
	Document []byte
}

// ExportLedgerOf finds the ledger of an export. It returns nil if the export doesn't have one.
func (t *Tx) ExportLedgerOf(exportID string) ([]byte, error) {
	var row ExportLedger
	err := t.db.Where("export_id = ?", exportID).Take(&row).Error
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return row.Document, err
}

// ReplaceExportLedger replaces the ledger of an export that has one.
func (t *Tx) ReplaceExportLedger(exportID string, document []byte) error {
	return t.db.Model(&ExportLedger{}).Where("export_id = ?", exportID).UpdateColumn("document", document).Error
}
