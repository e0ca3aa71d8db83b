-- +goose Up
-- The orders of a project's keys by owner and by last use.
CREATE INDEX api_keys_project_id_owner_id ON api_keys (project_id, owner, id);
CREATE INDEX api_keys_last_used ON api_keys
    (project_id, COALESCE(last_used_at, '0001-01-01 00:00:00+00:00'), id);

-- +goose Down
DROP INDEX api_keys_last_used;
DROP INDEX api_keys_project_id_owner_id;
