-- +goose Up
-- Certificates of custom host names by ACME (RFC 8555), and the installation's account at
-- each ACME server. Private keys are sealed.
CREATE TABLE certificates (
    host        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    directory   TEXT COLLATE "C" NOT NULL, -- the ACME server of the last attempt
    chain       TEXT COLLATE "C" NOT NULL, -- PEM; '' while there is none
    private_key BYTEA,
    ends_at     TIMESTAMPTZ,
    due_at      TIMESTAMPTZ NOT NULL,      -- when it is obtained, renewed or tried again
    failures    BIGINT NOT NULL,           -- since the last success
    problem     TEXT COLLATE "C" NOT NULL, -- why the last attempt failed
    holder      TEXT COLLATE "C" NOT NULL, -- the replica that is obtaining it
    held_until  TIMESTAMPTZ,
    challenge   TEXT COLLATE "C" NOT NULL, -- the token that every replica presents meanwhile
    updated_at  TIMESTAMPTZ NOT NULL
);
CREATE TABLE acme_accounts (
    directory   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    private_key BYTEA,
    created_at  TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE acme_accounts;
DROP TABLE certificates;
