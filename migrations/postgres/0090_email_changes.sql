-- +goose Up
-- The address that a link of the kind "email" confirms. Older code creates none and ignores them.
ALTER TABLE tokens ADD COLUMN email TEXT COLLATE "C" NOT NULL DEFAULT '';
