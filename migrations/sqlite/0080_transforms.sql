-- +goose Up
-- Changes to the headers of a version's requests and responses, a JSON object. Older code ignores
-- them, so it must not run on this schema.
ALTER TABLE versions ADD COLUMN transforms TEXT NOT NULL DEFAULT '{}';
