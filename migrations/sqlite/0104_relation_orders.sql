-- +goose Up
-- The orders of a project's list of owners, which a million of them would have to be sorted for.
CREATE INDEX relations_project_id_object ON relations (project_id, object, tenant_id);
CREATE INDEX relations_project_id_user ON relations (project_id, "user", tenant_id, object);
CREATE INDEX relations_project_id_created_at ON relations (project_id, created_at, tenant_id, object);

-- +goose Down
DROP INDEX relations_project_id_created_at;
DROP INDEX relations_project_id_user;
DROP INDEX relations_project_id_object;
