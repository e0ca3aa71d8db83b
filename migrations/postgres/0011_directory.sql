-- +goose Up
-- What a provisioning system (SCIM) calls a person or group; NULL where none does.
ALTER TABLE end_users ADD COLUMN user_name TEXT COLLATE "C";
ALTER TABLE end_users ADD COLUMN external_id TEXT COLLATE "C";
ALTER TABLE user_groups ADD COLUMN external_id TEXT COLLATE "C";
CREATE UNIQUE INDEX end_users_tenant_id_user_name ON end_users (tenant_id, user_name);
CREATE INDEX end_users_tenant_id_external_id ON end_users (tenant_id, external_id);
CREATE INDEX user_groups_tenant_id_external_id ON user_groups (tenant_id, external_id);
