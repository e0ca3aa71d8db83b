-- +goose Up
-- Mail domains whose users are sent to the provider, as JSON. No two providers of an app
-- client have the same one.
ALTER TABLE providers ADD COLUMN sign_in_domains TEXT COLLATE "C" NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE providers DROP COLUMN sign_in_domains;
