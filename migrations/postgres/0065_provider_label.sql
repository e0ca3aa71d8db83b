-- +goose Up
-- What users see on the provider's button, empty for the kind's name.
ALTER TABLE providers ADD COLUMN label TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE providers DROP COLUMN label;
