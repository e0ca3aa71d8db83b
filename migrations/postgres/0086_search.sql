-- +goose Up
-- The search finds owners and addresses by their beginning. Only the order of bytes (C) serves
-- that in every collation that a database can have.
CREATE INDEX api_keys_owner_bytes ON api_keys (owner COLLATE "C");
CREATE INDEX end_users_tenant_id_email_bytes ON end_users (tenant_id, email COLLATE "C");
