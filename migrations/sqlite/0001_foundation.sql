-- +goose Up
CREATE TABLE accounts (
    id            TEXT NOT NULL PRIMARY KEY,
    email         TEXT NOT NULL,
    name          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at    DATETIME NOT NULL
);
CREATE UNIQUE INDEX accounts_email ON accounts (email);

CREATE TABLE teams (
    id              TEXT NOT NULL PRIMARY KEY,
    name            TEXT NOT NULL,
    claimed_at      DATETIME,
    claim_code_hash BLOB,
    expires_at      DATETIME,
    created_at      DATETIME NOT NULL
);
CREATE UNIQUE INDEX teams_claim_code_hash ON teams (claim_code_hash);

CREATE TABLE memberships (
    team_id    TEXT NOT NULL REFERENCES teams (id),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    role       TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    PRIMARY KEY (team_id, account_id)
);
CREATE INDEX memberships_account_id ON memberships (account_id);

CREATE TABLE tokens (
    id         TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    team_id    TEXT REFERENCES teams (id),
    account_id TEXT REFERENCES accounts (id),
    hash       BLOB NOT NULL,
    created_at DATETIME NOT NULL,
    expires_at DATETIME,
    used_at    DATETIME
);
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);

CREATE TABLE projects (
    id             TEXT NOT NULL PRIMARY KEY,
    team_id        TEXT NOT NULL REFERENCES teams (id),
    name           TEXT NOT NULL,
    display_name   TEXT NOT NULL,
    fallback_owner TEXT NOT NULL,
    created_at     DATETIME NOT NULL,
    updated_at     DATETIME NOT NULL
);
CREATE UNIQUE INDEX projects_name ON projects (name);
CREATE INDEX projects_team_id ON projects (team_id);

CREATE TABLE versions (
    id           TEXT NOT NULL PRIMARY KEY,
    project_id   TEXT NOT NULL REFERENCES projects (id),
    name         TEXT NOT NULL,
    auth_mode    TEXT NOT NULL,
    auth_methods TEXT NOT NULL,
    keyless      TEXT NOT NULL,
    created_at   DATETIME NOT NULL,
    updated_at   DATETIME NOT NULL
);
CREATE UNIQUE INDEX versions_project_id_name ON versions (project_id, name);

CREATE TABLE environments (
    id         TEXT NOT NULL PRIMARY KEY,
    version_id TEXT NOT NULL REFERENCES versions (id),
    name       TEXT NOT NULL,
    target     TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    updated_at DATETIME NOT NULL
);
CREATE UNIQUE INDEX environments_version_id_name ON environments (version_id, name);

CREATE TABLE key_types (
    id         TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name       TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    expires_in BIGINT NOT NULL,
    built_in   BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX key_types_project_id_name ON key_types (project_id, name);

CREATE TABLE tenants (
    id         TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name       TEXT NOT NULL,
    created_at DATETIME NOT NULL
);
CREATE UNIQUE INDEX tenants_project_id_name ON tenants (project_id, name);

CREATE TABLE api_keys (
    id            TEXT NOT NULL PRIMARY KEY,
    project_id    TEXT NOT NULL REFERENCES projects (id),
    tenant_id     TEXT NOT NULL REFERENCES tenants (id),
    key_type_id   TEXT NOT NULL REFERENCES key_types (id),
    owner         TEXT NOT NULL,
    environment   TEXT NOT NULL,
    description   TEXT NOT NULL,
    state         TEXT NOT NULL,
    hash          BLOB NOT NULL,
    old_hash      BLOB,
    grace_ends_at DATETIME,
    expires_at    DATETIME,
    prefix        TEXT NOT NULL,
    last4         TEXT NOT NULL,
    created_at    DATETIME NOT NULL,
    updated_at    DATETIME NOT NULL
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_project_id_id ON api_keys (project_id, id);

CREATE TABLE revisions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id TEXT NOT NULL,
    key_id     TEXT NOT NULL,
    created_at DATETIME NOT NULL
);
CREATE INDEX revisions_project_id_id ON revisions (project_id, id);

CREATE TABLE exports (
    id              TEXT NOT NULL PRIMARY KEY,
    project_id      TEXT NOT NULL REFERENCES projects (id),
    format          TEXT NOT NULL,
    keys            TEXT NOT NULL,
    consumers       BOOLEAN NOT NULL,
    state           TEXT NOT NULL,
    part            TEXT NOT NULL,
    rows_done       BIGINT NOT NULL,
    rows_total      BIGINT NOT NULL,
    size_bytes      BIGINT NOT NULL,
    sha256          TEXT NOT NULL,
    exact           BIGINT NOT NULL,
    approximate     BIGINT NOT NULL,
    lossy           BIGINT NOT NULL,
    skipped         BIGINT NOT NULL,
    problem         TEXT NOT NULL,
    lease_id        TEXT NOT NULL,
    lease_until     DATETIME,
    created_at      DATETIME NOT NULL,
    finished_at     DATETIME,
    expires_at      DATETIME
);
CREATE INDEX exports_project_id_id ON exports (project_id, id);
CREATE INDEX exports_state ON exports (state);

CREATE TABLE audit_entries (
    id          TEXT NOT NULL PRIMARY KEY,
    actor       TEXT NOT NULL,
    action      TEXT NOT NULL,
    object      TEXT NOT NULL,
    team_id     TEXT NOT NULL,
    outcome     TEXT NOT NULL,
    detail      TEXT NOT NULL,
    remote_addr TEXT NOT NULL,
    request_id  TEXT NOT NULL,
    created_at  DATETIME NOT NULL
);
CREATE INDEX audit_entries_team_id_id ON audit_entries (team_id, id);
