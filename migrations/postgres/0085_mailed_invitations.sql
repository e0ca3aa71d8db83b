-- +goose Up
-- Invitations whose link is mailed, and when. Older code takes them for ones that need a proof of the address, which
-- refuses more than is needed.
ALTER TABLE invitations ADD COLUMN by_mail BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE invitations ADD COLUMN mailed_at TIMESTAMPTZ;
