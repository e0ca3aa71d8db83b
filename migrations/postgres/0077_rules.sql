-- +goose Up
-- What the routes of a version require, a JSON object. Older code ignores it, so it must not
-- run on this schema.
ALTER TABLE versions ADD COLUMN rules TEXT COLLATE "C" NOT NULL DEFAULT '{}';

-- Calls that rules in shadow would have refused. Versions are not referenced: writing what was
-- counted must not fail because of what has become of them since.
CREATE TABLE shadow_refusals (
    project_id TEXT COLLATE "C" NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL,
    rule       TEXT COLLATE "C" NOT NULL, -- id, default or read_write_scopes
    code       TEXT COLLATE "C" NOT NULL,
    day        BIGINT NOT NULL, -- whole days since 1970-01-01, UTC
    calls      BIGINT NOT NULL,
    last_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, version_id, rule, code, day)
);
