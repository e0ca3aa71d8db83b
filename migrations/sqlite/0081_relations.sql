-- +goose Up
-- Who owns which object, for rules with owner. Older code lets calls through that such rules
-- refuse, so it must not run on this schema.
CREATE TABLE relations (
    project_id TEXT NOT NULL REFERENCES projects (id),
    tenant_id  TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    object     TEXT NOT NULL, -- in its canonical form, such as order:42
    relation   TEXT NOT NULL,
    "user"     TEXT NOT NULL, -- usr_…, an app that owns keys, or subject and issuer of a token
    created_at DATETIME NOT NULL,
    PRIMARY KEY (project_id, tenant_id, object, relation, "user")
);
CREATE INDEX relations_user ON relations ("user", project_id);
CREATE INDEX relations_tenant_id ON relations (tenant_id);

-- What of a project's relations has changed: + and - with keys of relations, or * for anything.
ALTER TABLE revisions ADD COLUMN relations TEXT NOT NULL DEFAULT '';

-- Answers that named no object to remember. Versions are not referenced, as for shadow_refusals.
CREATE TABLE relation_misses (
    project_id TEXT NOT NULL,
    version_id TEXT NOT NULL,
    rule       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    day        INTEGER NOT NULL, -- whole days since 1970-01-01, UTC
    calls      INTEGER NOT NULL,
    last_at    DATETIME NOT NULL,
    PRIMARY KEY (project_id, version_id, rule, reason, day)
);

-- +goose Down
DROP TABLE relation_misses;
ALTER TABLE revisions DROP COLUMN relations;
DROP TABLE relations;
