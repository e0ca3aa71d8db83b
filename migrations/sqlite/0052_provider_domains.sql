-- +goose Up
-- Mail domains for which the team declares the provider authoritative, as JSON.
ALTER TABLE providers ADD COLUMN domains TEXT NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE providers DROP COLUMN domains;
