-- +goose Up
-- Who signs in elsewhere is known by issuer and subject, never by e-mail.
CREATE TABLE linked_accounts (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    issuer     TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    email      TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    seen_at    TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX linked_accounts_issuer_subject ON linked_accounts (issuer, subject);
CREATE INDEX linked_accounts_account_id ON linked_accounts (account_id);

CREATE TABLE invitations (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id    TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    role       TEXT COLLATE "C" NOT NULL,
    email      TEXT COLLATE "C" NOT NULL,
    code_hash  BYTEA NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    used_at    TIMESTAMPTZ
);
CREATE UNIQUE INDEX invitations_code_hash ON invitations (code_hash);
CREATE INDEX invitations_team_id_id ON invitations (team_id, id);

-- Of sessions: what their owner tells them apart by.
ALTER TABLE tokens ADD COLUMN user_agent TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN remote_addr TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN seen_at TIMESTAMPTZ;
CREATE INDEX tokens_account_id_kind ON tokens (account_id, kind);
