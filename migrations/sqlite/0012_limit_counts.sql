-- +goose Up
-- Projects are not referenced: writing what was counted must not fail because of
-- what has become of them since.
CREATE TABLE limit_counts (
    project_id TEXT NOT NULL,
    dimension  TEXT NOT NULL,
    subject    TEXT NOT NULL,
    period     TEXT NOT NULL,
    starts_at  BIGINT NOT NULL, -- Unix seconds
    ends_at    BIGINT NOT NULL,
    calls      BIGINT NOT NULL,
    PRIMARY KEY (project_id, dimension, subject, period)
) WITHOUT ROWID;
CREATE INDEX limit_counts_ends_at ON limit_counts (ends_at);
