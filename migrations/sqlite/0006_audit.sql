-- +goose Up
ALTER TABLE audit_entries ADD COLUMN number     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_entries ADD COLUMN hash       TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN token_id   TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN changes    TEXT NOT NULL DEFAULT '{}';
CREATE INDEX audit_entries_team_id_number ON audit_entries (team_id, number);

CREATE TABLE audit_chains (
    team_id TEXT    NOT NULL PRIMARY KEY,
    number  INTEGER NOT NULL,
    hash    TEXT    NOT NULL
);

-- The first account was made by whoever started the installation.
ALTER TABLE accounts ADD COLUMN operator BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE accounts SET operator = TRUE WHERE id = (SELECT id FROM accounts ORDER BY created_at, id LIMIT 1);
