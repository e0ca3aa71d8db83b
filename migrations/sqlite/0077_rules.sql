-- +goose Up
-- What the routes of a version require, a JSON object. Older code ignores it, so it must not
-- run on this schema.
ALTER TABLE versions ADD COLUMN rules TEXT NOT NULL DEFAULT '{}';

-- Calls that rules in shadow would have refused. Versions are not referenced: writing what was
-- counted must not fail because of what has become of them since.
CREATE TABLE shadow_refusals (
    project_id TEXT NOT NULL,
    version_id TEXT NOT NULL,
    rule       TEXT NOT NULL, -- id, default or read_write_scopes
    code       TEXT NOT NULL,
    day        INTEGER NOT NULL, -- whole days since 1970-01-01, UTC
    calls      INTEGER NOT NULL,
    last_at    DATETIME NOT NULL,
    PRIMARY KEY (project_id, version_id, rule, code, day)
);
