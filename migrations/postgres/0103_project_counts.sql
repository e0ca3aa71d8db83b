-- +goose Up
-- The number of a team's projects that are served is read from the index of their names, and whether there are any in
-- the bin from an index of those.
CREATE INDEX projects_team_id_name_deleted_at ON projects (team_id, name, deleted_at);
CREATE INDEX projects_team_id_purge_at ON projects (team_id, purge_at) WHERE purge_at IS NOT NULL;
DROP INDEX projects_team_id_name;

-- +goose Down
CREATE INDEX projects_team_id_name ON projects (team_id, name);
DROP INDEX projects_team_id_purge_at;
DROP INDEX projects_team_id_name_deleted_at;
