-- +goose Up
-- SQLite has one writer at a time, so revisions commit in the order of their ids.
SELECT 1;

-- +goose Down
SELECT 1;
