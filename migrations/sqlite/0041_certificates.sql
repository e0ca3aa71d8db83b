-- +goose Up
-- Certificates of custom host names by ACME (RFC 8555), and the installation's account at
-- each ACME server. Private keys are sealed.
CREATE TABLE certificates (
    host        TEXT NOT NULL PRIMARY KEY,
    directory   TEXT NOT NULL,    -- the ACME server of the last attempt
    chain       TEXT NOT NULL,    -- PEM; '' while there is none
    private_key BLOB,
    ends_at     DATETIME,
    due_at      DATETIME NOT NULL, -- when it is obtained, renewed or tried again
    failures    INTEGER NOT NULL, -- since the last success
    problem     TEXT NOT NULL,    -- why the last attempt failed
    holder      TEXT NOT NULL,    -- the replica that is obtaining it
    held_until  DATETIME,
    challenge   TEXT NOT NULL,    -- the token that every replica presents meanwhile
    updated_at  DATETIME NOT NULL
);
CREATE TABLE acme_accounts (
    directory   TEXT NOT NULL PRIMARY KEY,
    private_key BLOB,
    created_at  DATETIME NOT NULL
);

-- +goose Down
DROP TABLE acme_accounts;
DROP TABLE certificates;
