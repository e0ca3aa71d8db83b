-- +goose Up
ALTER TABLE exports ADD COLUMN secrets BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE exports ADD COLUMN recipient TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE exports ADD COLUMN file_key BYTEA;

-- +goose Down
ALTER TABLE exports DROP COLUMN file_key;
ALTER TABLE exports DROP COLUMN recipient;
ALTER TABLE exports DROP COLUMN secrets;
