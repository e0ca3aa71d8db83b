-- +goose Up
-- The API that access tokens of a provider are for. Auth0 gives opaque ones without it.
ALTER TABLE providers ADD COLUMN audience TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE providers DROP COLUMN audience;
