-- +goose Up
-- An export reads the keys of each tenant by themselves.
CREATE INDEX api_keys_project_id_tenant_id_id ON api_keys (project_id, tenant_id, id);

-- +goose Down
DROP INDEX api_keys_project_id_tenant_id_id;
