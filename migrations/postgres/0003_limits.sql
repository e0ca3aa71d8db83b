-- +goose Up
CREATE TABLE products (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id      TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    name         TEXT COLLATE "C" NOT NULL,
    display_name TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX products_team_id_name ON products (team_id, name);

ALTER TABLE projects ADD COLUMN product_id TEXT COLLATE "C" REFERENCES products (id);
ALTER TABLE projects ADD COLUMN limits TEXT COLLATE "C" NOT NULL DEFAULT '{}';
CREATE INDEX projects_product_id ON projects (product_id);

ALTER TABLE versions ADD COLUMN ip_allow TEXT COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE versions ADD COLUMN ip_deny TEXT COLLATE "C" NOT NULL DEFAULT '[]';

ALTER TABLE key_types ADD COLUMN limits TEXT COLLATE "C" NOT NULL DEFAULT '{}';

ALTER TABLE api_keys ADD COLUMN product_id TEXT COLLATE "C" REFERENCES products (id);
ALTER TABLE api_keys ADD COLUMN limits TEXT COLLATE "C"; -- absent: those of its type
ALTER TABLE api_keys ADD COLUMN allowed_cidrs TEXT COLLATE "C" NOT NULL DEFAULT '[]';
CREATE INDEX api_keys_product_id ON api_keys (product_id);

-- A tenant is a project's own, the one named default, or a team's, and is then
-- attached to projects.
ALTER TABLE tenants ALTER COLUMN project_id DROP NOT NULL;
ALTER TABLE tenants ADD COLUMN team_id TEXT COLLATE "C" REFERENCES teams (id);
ALTER TABLE tenants ADD COLUMN display_name TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN fallback_owner TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN updated_at TIMESTAMPTZ NOT NULL DEFAULT now();
ALTER TABLE tenants ADD CONSTRAINT tenants_check CHECK ((project_id IS NULL) <> (team_id IS NULL));
CREATE UNIQUE INDEX tenants_team_id_name ON tenants (team_id, name);

CREATE TABLE project_tenants (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, tenant_id)
);
CREATE INDEX project_tenants_tenant_id ON project_tenants (tenant_id);
