-- +goose Up
CREATE TABLE idempotent_requests (
    lookup      BYTEA NOT NULL PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    lease_id    TEXT COLLATE "C" NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    carried_out BOOLEAN NOT NULL,
    answer      BYTEA NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX idempotent_requests_expires_at ON idempotent_requests (expires_at);

CREATE TABLE access_tokens (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id   TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    kind         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    scopes       JSONB NOT NULL,
    hash         BYTEA NOT NULL,
    last4        TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX access_tokens_hash ON access_tokens (hash);
CREATE INDEX access_tokens_account_id_id ON access_tokens (account_id, id);
CREATE INDEX access_tokens_expires_at ON access_tokens (expires_at);

CREATE TABLE device_grants (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    device_hash    BYTEA NOT NULL,
    user_hash      BYTEA NOT NULL,
    machine        TEXT COLLATE "C" NOT NULL,
    remote_addr    TEXT COLLATE "C" NOT NULL,
    scopes         JSONB NOT NULL,
    state          TEXT COLLATE "C" NOT NULL,
    account_id     TEXT COLLATE "C" REFERENCES accounts (id),
    poll_every       BIGINT NOT NULL,
    last_polled_at TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX device_grants_device_hash ON device_grants (device_hash);
CREATE UNIQUE INDEX device_grants_user_hash ON device_grants (user_hash);
CREATE INDEX device_grants_expires_at ON device_grants (expires_at);
CREATE INDEX device_grants_remote_addr ON device_grants (remote_addr);
