-- +goose Up
-- A team's projects in the orders of its list, which thousands of them would have to be sorted for.
CREATE INDEX projects_team_id_name ON projects (team_id, name);
CREATE INDEX projects_team_id_id ON projects (team_id, id);
DROP INDEX projects_team_id;

-- What is counted before a key type or a tenant is deleted, and what these deletions check.
CREATE INDEX api_keys_key_type_id ON api_keys (key_type_id);
CREATE INDEX api_keys_tenant_id ON api_keys (tenant_id);

-- The search for users of all tenants by the beginning of their address.
CREATE INDEX end_users_email ON end_users (email COLLATE "C");

-- The filters of the audit log, newest first.
CREATE INDEX audit_entries_project_id_number ON audit_entries (project_id, number);
CREATE INDEX audit_entries_object_number ON audit_entries (object, number);
CREATE INDEX audit_entries_team_id_action_number ON audit_entries (team_id, action, number);
CREATE INDEX audit_entries_team_id_actor_number ON audit_entries (team_id, actor, number);
CREATE INDEX audit_entries_refused ON audit_entries (team_id, number) WHERE outcome = 'refused';

-- +goose Down
DROP INDEX audit_entries_refused;
DROP INDEX audit_entries_team_id_actor_number;
DROP INDEX audit_entries_team_id_action_number;
DROP INDEX audit_entries_object_number;
DROP INDEX audit_entries_project_id_number;
DROP INDEX end_users_email;
DROP INDEX api_keys_tenant_id;
DROP INDEX api_keys_key_type_id;
CREATE INDEX projects_team_id ON projects (team_id);
DROP INDEX projects_team_id_id;
DROP INDEX projects_team_id_name;
