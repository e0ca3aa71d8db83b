-- +goose Up
-- A deleted project stays in the bin until purge_at: restoring clears the columns, the purge
-- deletes its rows. A program without these columns would go on serving deleted projects.
ALTER TABLE projects ADD COLUMN deleted_at TIMESTAMPTZ;
ALTER TABLE projects ADD COLUMN purge_at TIMESTAMPTZ;
CREATE INDEX projects_purge_at ON projects (purge_at) WHERE purge_at IS NOT NULL;

-- +goose Down
DROP INDEX projects_purge_at;
ALTER TABLE projects DROP COLUMN purge_at;
ALTER TABLE projects DROP COLUMN deleted_at;
