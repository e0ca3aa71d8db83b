-- +goose Up
-- Projects are not referenced: writing what was counted must not fail because of
-- what has become of them since.
CREATE TABLE limit_counts (
    project_id TEXT COLLATE "C" NOT NULL,
    dimension  TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    period     TEXT COLLATE "C" NOT NULL,
    starts_at  BIGINT NOT NULL, -- Unix seconds
    ends_at    BIGINT NOT NULL,
    calls      BIGINT NOT NULL,
    PRIMARY KEY (project_id, dimension, subject, period)
);
CREATE INDEX limit_counts_ends_at ON limit_counts (ends_at);
