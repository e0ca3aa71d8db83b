-- +goose Up
-- Teams are not referenced: a workspace that is merged into a team leaves its
-- data key behind, and what it sealed goes on being opened with it.
CREATE TABLE data_keys (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id    TEXT COLLATE "C" NOT NULL,
    wrapped    BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX data_keys_team_id_id ON data_keys (team_id, id);

CREATE TABLE app_clients (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id      TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name           TEXT COLLATE "C" NOT NULL,
    redirect_uris  TEXT COLLATE "C" NOT NULL,
    logout_uris    TEXT COLLATE "C" NOT NULL,
    secret_hash    BYTEA, -- NULL for a public client
    access_seconds  BIGINT NOT NULL,
    refresh_seconds BIGINT NOT NULL, -- 0: no refresh tokens
    algorithm      TEXT COLLATE "C" NOT NULL,
    title          TEXT COLLATE "C" NOT NULL,
    welcome        TEXT COLLATE "C" NOT NULL,
    logo_url       TEXT COLLATE "C" NOT NULL,
    color          TEXT COLLATE "C" NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX app_clients_tenant_id_name ON app_clients (tenant_id, name);

CREATE TABLE providers (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id       TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    type            TEXT COLLATE "C" NOT NULL,
    managed         BOOLEAN NOT NULL,
    app_id          TEXT COLLATE "C" NOT NULL,
    client_secret   BYTEA, -- sealed
    issuer          TEXT COLLATE "C" NOT NULL,
    scopes          TEXT COLLATE "C" NOT NULL,
    token_client    TEXT COLLATE "C" NOT NULL,
    token_upstream  TEXT COLLATE "C" NOT NULL,
    enabled         BOOLEAN NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL
);
CREATE INDEX providers_client_id_id ON providers (client_id, id);

CREATE TABLE signing_keys (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id   TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    algorithm   TEXT COLLATE "C" NOT NULL,
    private_key BYTEA, -- sealed
    public_jwk  TEXT COLLATE "C" NOT NULL,
    active_at   TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ, -- NULL until a newer one follows
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX signing_keys_client_id_id ON signing_keys (client_id, id);

CREATE TABLE login_attempts (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id      TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    browser_hash   BYTEA NOT NULL,
    redirect_uri   TEXT COLLATE "C" NOT NULL,
    state          TEXT COLLATE "C" NOT NULL,
    nonce          TEXT COLLATE "C" NOT NULL,
    scope          TEXT COLLATE "C" NOT NULL,
    code_challenge TEXT COLLATE "C" NOT NULL,
    answered_at    TIMESTAMPTZ,
    finished_at    TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_attempts_expires_at ON login_attempts (expires_at);

CREATE TABLE end_users (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id      TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    email          TEXT COLLATE "C" NOT NULL,
    email_verified BOOLEAN NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    state          TEXT COLLATE "C" NOT NULL,
    last_login_at  TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX end_users_tenant_id_id ON end_users (tenant_id, id);
CREATE INDEX end_users_tenant_id_email ON end_users (tenant_id, email);

CREATE TABLE identities (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    issuer      TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    provider_id TEXT COLLATE "C" NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, issuer, subject)
);
CREATE INDEX identities_user_id ON identities (user_id);

CREATE TABLE tenant_logins (
    tenant_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tenants (id),
    invite_only BOOLEAN NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL
);

CREATE TABLE pre_approvals (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    kind       TEXT COLLATE "C" NOT NULL, -- email or domain
    value      TEXT COLLATE "C" NOT NULL,
    groups     TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX pre_approvals_tenant_id_kind_value ON pre_approvals (tenant_id, kind, value);

CREATE TABLE user_groups (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id    TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name         TEXT COLLATE "C" NOT NULL,
    display_name TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX user_groups_tenant_id_name ON user_groups (tenant_id, name);

CREATE TABLE group_members (
    group_id   TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id),
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    role       TEXT COLLATE "C" NOT NULL, -- member or admin
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_user_id ON group_members (user_id);

-- Members of the child are members of the parent.
CREATE TABLE group_groups (
    parent_id  TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id),
    child_id   TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (parent_id, child_id)
);
CREATE INDEX group_groups_child_id ON group_groups (child_id);

-- One login of one person at one client: what its refresh tokens belong to.
CREATE TABLE login_sessions (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id   TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    provider_id TEXT COLLATE "C" NOT NULL,
    scope       TEXT COLLATE "C" NOT NULL,
    nonce       TEXT COLLATE "C" NOT NULL,
    ended_at    TIMESTAMPTZ,
    created_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_sessions_user_id ON login_sessions (user_id);
CREATE INDEX login_sessions_expires_at ON login_sessions (expires_at);

-- Codes and refresh tokens, by their SHA-256.
CREATE TABLE login_grants (
    hash           BYTEA NOT NULL PRIMARY KEY,
    kind           TEXT COLLATE "C" NOT NULL, -- code or refresh
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES login_sessions (id),
    redirect_uri   TEXT COLLATE "C" NOT NULL,
    code_challenge TEXT COLLATE "C" NOT NULL,
    used_at        TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_grants_session_id ON login_grants (session_id);
CREATE INDEX login_grants_expires_at ON login_grants (expires_at);
