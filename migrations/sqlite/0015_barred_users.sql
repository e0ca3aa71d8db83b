-- +goose Up
-- Who was deleted while tokens of theirs may still be about: gateways refuse them
-- until ends_at. The tenant is not referenced, so that it can be deleted before.
CREATE TABLE deleted_users (
    user_id   TEXT NOT NULL PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    ends_at   DATETIME NOT NULL
);
CREATE INDEX deleted_users_tenant_id_ends_at ON deleted_users (tenant_id, ends_at);
CREATE INDEX deleted_users_ends_at ON deleted_users (ends_at);

CREATE INDEX end_users_frozen ON end_users (tenant_id, updated_at) WHERE state = 'frozen';
