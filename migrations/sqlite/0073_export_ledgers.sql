-- +goose Up
-- The ledger of an export, summed up by codes: gzipped JSON. Older code does not write it;
-- the ledger of an export that it finished is only in the zip.
CREATE TABLE export_ledgers (
    export_id TEXT PRIMARY KEY REFERENCES exports (id) ON DELETE CASCADE,
    document  BLOB NOT NULL
);
-- Who asked for an export, as the audit log names actors; '' for exports of older code.
ALTER TABLE exports ADD COLUMN requested_by TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE exports DROP COLUMN requested_by;
DROP TABLE export_ledgers;
