-- +goose Up
-- The beginning of what the receiver answered to the last attempt.
ALTER TABLE webhook_deliveries ADD COLUMN last_answer TEXT NOT NULL DEFAULT '';
