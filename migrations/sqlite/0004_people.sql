-- +goose Up
-- Who signs in elsewhere is known by issuer and subject, never by e-mail.
CREATE TABLE linked_accounts (
    id         TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    email      TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    seen_at    DATETIME NOT NULL
);
CREATE UNIQUE INDEX linked_accounts_issuer_subject ON linked_accounts (issuer, subject);
CREATE INDEX linked_accounts_account_id ON linked_accounts (account_id);

CREATE TABLE invitations (
    id         TEXT NOT NULL PRIMARY KEY,
    team_id    TEXT NOT NULL REFERENCES teams (id),
    role       TEXT NOT NULL,
    email      TEXT NOT NULL,
    code_hash  BLOB NOT NULL,
    created_by TEXT NOT NULL REFERENCES accounts (id),
    created_at DATETIME NOT NULL,
    expires_at DATETIME NOT NULL,
    used_at    DATETIME
);
CREATE UNIQUE INDEX invitations_code_hash ON invitations (code_hash);
CREATE INDEX invitations_team_id_id ON invitations (team_id, id);

-- Of sessions: what their owner tells them apart by.
ALTER TABLE tokens ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN remote_addr TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN seen_at DATETIME;
CREATE INDEX tokens_account_id_kind ON tokens (account_id, kind);
