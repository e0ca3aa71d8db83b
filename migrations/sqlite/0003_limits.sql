-- +goose Up
CREATE TABLE products (
    id           TEXT NOT NULL PRIMARY KEY,
    team_id      TEXT NOT NULL REFERENCES teams (id),
    name         TEXT NOT NULL,
    display_name TEXT NOT NULL,
    created_at   DATETIME NOT NULL,
    updated_at   DATETIME NOT NULL
);
CREATE UNIQUE INDEX products_team_id_name ON products (team_id, name);

ALTER TABLE projects ADD COLUMN product_id TEXT REFERENCES products (id);
ALTER TABLE projects ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
CREATE INDEX projects_product_id ON projects (product_id);

ALTER TABLE versions ADD COLUMN ip_allow TEXT NOT NULL DEFAULT '[]';
ALTER TABLE versions ADD COLUMN ip_deny TEXT NOT NULL DEFAULT '[]';

ALTER TABLE key_types ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';

ALTER TABLE api_keys ADD COLUMN product_id TEXT REFERENCES products (id);
ALTER TABLE api_keys ADD COLUMN limits TEXT; -- absent: those of its type
ALTER TABLE api_keys ADD COLUMN allowed_cidrs TEXT NOT NULL DEFAULT '[]';
CREATE INDEX api_keys_product_id ON api_keys (product_id);

-- A tenant is a project's own, the one named default, or a team's, and is then
-- attached to projects. Its rows go out and in again because SQLite cannot take
-- NOT NULL from a column; references to them are judged when all is committed.
PRAGMA defer_foreign_keys = ON;
CREATE TABLE tenants_before AS SELECT * FROM tenants;
DROP TABLE tenants;
CREATE TABLE tenants (
    id             TEXT NOT NULL PRIMARY KEY,
    project_id     TEXT REFERENCES projects (id),
    team_id        TEXT REFERENCES teams (id),
    name           TEXT NOT NULL,
    display_name   TEXT NOT NULL DEFAULT '',
    fallback_owner TEXT NOT NULL DEFAULT '',
    created_at     DATETIME NOT NULL,
    updated_at     DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CHECK ((project_id IS NULL) <> (team_id IS NULL))
);
INSERT INTO tenants (id, project_id, name, created_at, updated_at)
SELECT id, project_id, name, created_at, created_at FROM tenants_before;
DROP TABLE tenants_before;
CREATE UNIQUE INDEX tenants_project_id_name ON tenants (project_id, name);
CREATE UNIQUE INDEX tenants_team_id_name ON tenants (team_id, name);

CREATE TABLE project_tenants (
    project_id TEXT NOT NULL REFERENCES projects (id),
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    created_at DATETIME NOT NULL,
    PRIMARY KEY (project_id, tenant_id)
);
CREATE INDEX project_tenants_tenant_id ON project_tenants (tenant_id);
