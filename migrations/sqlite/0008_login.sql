-- +goose Up
-- Teams are not referenced: a workspace that is merged into a team leaves its
-- data key behind, and what it sealed goes on being opened with it.
CREATE TABLE data_keys (
    id         TEXT NOT NULL PRIMARY KEY,
    team_id    TEXT NOT NULL,
    wrapped    BLOB NOT NULL,
    created_at DATETIME NOT NULL
);
CREATE INDEX data_keys_team_id_id ON data_keys (team_id, id);

CREATE TABLE app_clients (
    id             TEXT NOT NULL PRIMARY KEY,
    tenant_id      TEXT NOT NULL REFERENCES tenants (id),
    name           TEXT NOT NULL,
    redirect_uris  TEXT NOT NULL,
    logout_uris    TEXT NOT NULL,
    secret_hash    BLOB, -- NULL for a public client
    access_seconds  INTEGER NOT NULL,
    refresh_seconds INTEGER NOT NULL, -- 0: no refresh tokens
    algorithm      TEXT NOT NULL,
    title          TEXT NOT NULL,
    welcome        TEXT NOT NULL,
    logo_url       TEXT NOT NULL,
    color          TEXT NOT NULL,
    created_at     DATETIME NOT NULL,
    updated_at     DATETIME NOT NULL
);
CREATE UNIQUE INDEX app_clients_tenant_id_name ON app_clients (tenant_id, name);

CREATE TABLE providers (
    id              TEXT NOT NULL PRIMARY KEY,
    client_id       TEXT NOT NULL REFERENCES app_clients (id),
    type            TEXT NOT NULL,
    managed         BOOLEAN NOT NULL,
    app_id          TEXT NOT NULL,
    client_secret   BLOB, -- sealed
    issuer          TEXT NOT NULL,
    scopes          TEXT NOT NULL,
    token_client    TEXT NOT NULL,
    token_upstream  TEXT NOT NULL,
    enabled         BOOLEAN NOT NULL,
    created_at      DATETIME NOT NULL,
    updated_at      DATETIME NOT NULL
);
CREATE INDEX providers_client_id_id ON providers (client_id, id);

CREATE TABLE signing_keys (
    id          TEXT NOT NULL PRIMARY KEY,
    client_id   TEXT NOT NULL REFERENCES app_clients (id),
    algorithm   TEXT NOT NULL,
    private_key BLOB, -- sealed
    public_jwk  TEXT NOT NULL,
    active_at   DATETIME NOT NULL,
    expires_at  DATETIME, -- NULL until a newer one follows
    created_at  DATETIME NOT NULL
);
CREATE INDEX signing_keys_client_id_id ON signing_keys (client_id, id);

CREATE TABLE login_attempts (
    id             TEXT NOT NULL PRIMARY KEY,
    client_id      TEXT NOT NULL REFERENCES app_clients (id),
    browser_hash   BLOB NOT NULL,
    redirect_uri   TEXT NOT NULL,
    state          TEXT NOT NULL,
    nonce          TEXT NOT NULL,
    scope          TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    answered_at    DATETIME,
    finished_at    DATETIME,
    created_at     DATETIME NOT NULL,
    expires_at     DATETIME NOT NULL
);
CREATE INDEX login_attempts_expires_at ON login_attempts (expires_at);

CREATE TABLE end_users (
    id             TEXT NOT NULL PRIMARY KEY,
    tenant_id      TEXT NOT NULL REFERENCES tenants (id),
    email          TEXT NOT NULL,
    email_verified BOOLEAN NOT NULL,
    name           TEXT NOT NULL,
    state          TEXT NOT NULL,
    last_login_at  DATETIME,
    created_at     DATETIME NOT NULL,
    updated_at     DATETIME NOT NULL
);
CREATE INDEX end_users_tenant_id_id ON end_users (tenant_id, id);
CREATE INDEX end_users_tenant_id_email ON end_users (tenant_id, email);

CREATE TABLE identities (
    tenant_id   TEXT NOT NULL REFERENCES tenants (id),
    issuer      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    user_id     TEXT NOT NULL REFERENCES end_users (id),
    provider_id TEXT NOT NULL,
    created_at  DATETIME NOT NULL,
    PRIMARY KEY (tenant_id, issuer, subject)
);
CREATE INDEX identities_user_id ON identities (user_id);

CREATE TABLE tenant_logins (
    tenant_id   TEXT NOT NULL PRIMARY KEY REFERENCES tenants (id),
    invite_only BOOLEAN NOT NULL,
    updated_at  DATETIME NOT NULL
);

CREATE TABLE pre_approvals (
    id         TEXT NOT NULL PRIMARY KEY,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    kind       TEXT NOT NULL, -- email or domain
    value      TEXT NOT NULL,
    groups     TEXT NOT NULL,
    created_at DATETIME NOT NULL
);
CREATE UNIQUE INDEX pre_approvals_tenant_id_kind_value ON pre_approvals (tenant_id, kind, value);

CREATE TABLE user_groups (
    id           TEXT NOT NULL PRIMARY KEY,
    tenant_id    TEXT NOT NULL REFERENCES tenants (id),
    name         TEXT NOT NULL,
    display_name TEXT NOT NULL,
    created_at   DATETIME NOT NULL,
    updated_at   DATETIME NOT NULL
);
CREATE UNIQUE INDEX user_groups_tenant_id_name ON user_groups (tenant_id, name);

CREATE TABLE group_members (
    group_id   TEXT NOT NULL REFERENCES user_groups (id),
    user_id    TEXT NOT NULL REFERENCES end_users (id),
    role       TEXT NOT NULL, -- member or admin
    created_at DATETIME NOT NULL,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_user_id ON group_members (user_id);

-- Members of the child are members of the parent.
CREATE TABLE group_groups (
    parent_id  TEXT NOT NULL REFERENCES user_groups (id),
    child_id   TEXT NOT NULL REFERENCES user_groups (id),
    created_at DATETIME NOT NULL,
    PRIMARY KEY (parent_id, child_id)
);
CREATE INDEX group_groups_child_id ON group_groups (child_id);

-- One login of one person at one client: what its refresh tokens belong to.
CREATE TABLE login_sessions (
    id          TEXT NOT NULL PRIMARY KEY,
    client_id   TEXT NOT NULL REFERENCES app_clients (id),
    user_id     TEXT NOT NULL REFERENCES end_users (id),
    provider_id TEXT NOT NULL,
    scope       TEXT NOT NULL,
    nonce       TEXT NOT NULL,
    ended_at    DATETIME,
    created_at  DATETIME NOT NULL,
    expires_at  DATETIME NOT NULL
);
CREATE INDEX login_sessions_user_id ON login_sessions (user_id);
CREATE INDEX login_sessions_expires_at ON login_sessions (expires_at);

-- Codes and refresh tokens, by their SHA-256.
CREATE TABLE login_grants (
    hash           BLOB NOT NULL PRIMARY KEY,
    kind           TEXT NOT NULL, -- code or refresh
    session_id     TEXT NOT NULL REFERENCES login_sessions (id),
    redirect_uri   TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    used_at        DATETIME,
    created_at     DATETIME NOT NULL,
    expires_at     DATETIME NOT NULL
);
CREATE INDEX login_grants_session_id ON login_grants (session_id);
CREATE INDEX login_grants_expires_at ON login_grants (expires_at);
