-- +goose Up
ALTER TABLE versions ADD COLUMN introspection TEXT COLLATE "C" NOT NULL DEFAULT '{}';
ALTER TABLE versions ADD COLUMN introspection_secret BYTEA;
