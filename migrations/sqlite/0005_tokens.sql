-- +goose Up
CREATE TABLE idempotent_requests (
    lookup      BLOB NOT NULL PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    lease_id    TEXT NOT NULL,
    lease_until DATETIME NOT NULL,
    carried_out BOOLEAN NOT NULL,
    answer      BLOB NOT NULL,
    expires_at  DATETIME NOT NULL
);
CREATE INDEX idempotent_requests_expires_at ON idempotent_requests (expires_at);

CREATE TABLE access_tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    account_id   TEXT NOT NULL REFERENCES accounts (id),
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    hash         BLOB NOT NULL,
    last4        TEXT NOT NULL,
    created_at   DATETIME NOT NULL,
    expires_at   DATETIME NOT NULL,
    last_used_at DATETIME
);
CREATE UNIQUE INDEX access_tokens_hash ON access_tokens (hash);
CREATE INDEX access_tokens_account_id_id ON access_tokens (account_id, id);
CREATE INDEX access_tokens_expires_at ON access_tokens (expires_at);

CREATE TABLE device_grants (
    id             TEXT NOT NULL PRIMARY KEY,
    device_hash    BLOB NOT NULL,
    user_hash      BLOB NOT NULL,
    machine        TEXT NOT NULL,
    remote_addr    TEXT NOT NULL,
    scopes         TEXT NOT NULL,
    state          TEXT NOT NULL,
    account_id     TEXT REFERENCES accounts (id),
    poll_every       BIGINT NOT NULL,
    last_polled_at DATETIME,
    created_at     DATETIME NOT NULL,
    expires_at     DATETIME NOT NULL
);
CREATE UNIQUE INDEX device_grants_device_hash ON device_grants (device_hash);
CREATE UNIQUE INDEX device_grants_user_hash ON device_grants (user_hash);
CREATE INDEX device_grants_expires_at ON device_grants (expires_at);
CREATE INDEX device_grants_remote_addr ON device_grants (remote_addr);
