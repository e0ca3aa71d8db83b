-- +goose Up
-- Address of the client that used an access token last, "" if not known.
ALTER TABLE access_tokens ADD COLUMN last_used_from TEXT COLLATE "C" NOT NULL DEFAULT '';
