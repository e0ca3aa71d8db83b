-- +goose Up
-- Who signed up with the claim code: a code lets one account be made.
ALTER TABLE teams ADD COLUMN signed_up_id TEXT REFERENCES accounts (id);
