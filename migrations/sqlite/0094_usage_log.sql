-- +goose Up
-- Counts of calls that a process has written and that are not added to the hourly rows yet: a flush of many counts
-- appends here, and each minute one process adds what is here to usage_hours. Older code neither writes nor reads it.
CREATE TABLE usage_log (
    id         TEXT PRIMARY KEY,
    written_at BIGINT NOT NULL, -- Unix seconds
    sums       BIGINT NOT NULL, -- how many are in payload
    payload    BLOB NOT NULL
);
