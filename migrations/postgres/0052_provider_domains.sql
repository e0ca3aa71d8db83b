-- +goose Up
-- Mail domains for which the team declares the provider authoritative, as JSON.
ALTER TABLE providers ADD COLUMN domains TEXT COLLATE "C" NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE providers DROP COLUMN domains;
