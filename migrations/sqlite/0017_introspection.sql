-- +goose Up
ALTER TABLE versions ADD COLUMN introspection TEXT NOT NULL DEFAULT '{}';
ALTER TABLE versions ADD COLUMN introspection_secret BLOB;
