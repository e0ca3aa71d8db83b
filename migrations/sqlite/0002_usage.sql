-- +goose Up
-- Projects and keys are not referenced: writing what was counted must not fail
-- because of what has become of them since.
CREATE TABLE usage_hours (
    project_id     TEXT NOT NULL,
    hour           BIGINT NOT NULL, -- whole hours since 1970-01-01T00:00Z
    environment_id TEXT NOT NULL,
    owner          TEXT NOT NULL,
    key_id         TEXT NOT NULL,
    route          TEXT NOT NULL,
    status_class   BIGINT NOT NULL, -- first digit of the status code
    calls          BIGINT NOT NULL,
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    PRIMARY KEY (project_id, hour, environment_id, owner, key_id, route, status_class)
) WITHOUT ROWID;

ALTER TABLE api_keys ADD COLUMN last_used_at DATETIME;
