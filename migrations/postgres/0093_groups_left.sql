-- +goose Up
-- When a user last left a group or ended to be an admin of one, NULL for not known: gateways refuse access tokens that
-- were issued before, because these name the group. Older code ignores it, and accepts them until they expire.
ALTER TABLE end_users ADD COLUMN groups_left_at TIMESTAMPTZ;
CREATE INDEX end_users_groups_left_at ON end_users (tenant_id, groups_left_at) WHERE groups_left_at IS NOT NULL;
