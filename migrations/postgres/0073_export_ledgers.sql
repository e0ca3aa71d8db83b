-- +goose Up
-- The ledger of an export, summed up by codes: gzipped JSON. Older code does not write it;
-- the ledger of an export that it finished is only in the zip.
CREATE TABLE export_ledgers (
    export_id TEXT COLLATE "C" PRIMARY KEY REFERENCES exports (id) ON DELETE CASCADE,
    document  BYTEA NOT NULL
);
-- Who asked for an export, as the audit log names actors; '' for exports of older code.
ALTER TABLE exports ADD COLUMN requested_by TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE exports DROP COLUMN requested_by;
DROP TABLE export_ledgers;
