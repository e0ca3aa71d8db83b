-- +goose Up
-- How an app client gets tokens, a JSON list, and since when it is frozen, NULL if it is
-- not. Older code ignores both, so it must not run on this schema.
ALTER TABLE app_clients ADD COLUMN grant_types TEXT NOT NULL DEFAULT '["authorization_code","refresh_token"]';
ALTER TABLE app_clients ADD COLUMN frozen_at DATETIME;
