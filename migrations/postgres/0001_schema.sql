-- +goose Up
-- Text sorts by its bytes (COLLATE "C"), as on SQLite, in whatever locale the database has.

------------------------------------------------------------------------------------------------
-- Accounts and teams
------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    email         TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C" NOT NULL,
    operator      BOOLEAN NOT NULL DEFAULT FALSE, -- of the installation
    -- It was only typed, at an open sign-up or later, and nothing has shown yet that it is this person's.
    email_unproven BOOLEAN NOT NULL DEFAULT FALSE,
    created_at    TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX accounts_email ON accounts (email);

-- People who sign in with a provider are known by issuer and subject, never by email address.
CREATE TABLE linked_accounts (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id     TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    issuer         TEXT COLLATE "C" NOT NULL,
    subject        TEXT COLLATE "C" NOT NULL,
    email          TEXT COLLATE "C" NOT NULL,
    email_verified BOOLEAN NOT NULL DEFAULT FALSE, -- the issuer says that the address is the person's
    created_at     TIMESTAMPTZ NOT NULL,
    seen_at        TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX linked_accounts_issuer_subject ON linked_accounts (issuer, subject);
CREATE INDEX linked_accounts_account_id ON linked_accounts (account_id);

CREATE TABLE teams (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name            TEXT COLLATE "C" NOT NULL,
    claimed_at      TIMESTAMPTZ,
    claim_code_hash BYTEA,
    signed_up_id    TEXT COLLATE "C" REFERENCES accounts (id), -- the one account that was created with the claim code
    -- The team that a claimed workspace was merged into, whose members read the audit log that the
    -- workspace had until then. NULL for all other teams.
    merged_into     TEXT COLLATE "C" REFERENCES teams (id),
    expires_at      TIMESTAMPTZ,
    created_at      TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX teams_claim_code_hash ON teams (claim_code_hash);
CREATE INDEX teams_merged_into ON teams (merged_into);
CREATE INDEX teams_expires_at ON teams (expires_at);

CREATE TABLE memberships (
    team_id    TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    role       TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (team_id, account_id)
);
CREATE INDEX memberships_account_id ON memberships (account_id);

CREATE TABLE invitations (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id    TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    role       TEXT COLLATE "C" NOT NULL,
    email      TEXT COLLATE "C" NOT NULL,
    code_hash  BYTEA NOT NULL,
    by_mail    BOOLEAN NOT NULL DEFAULT FALSE, -- the link is mailed, which proves the address
    mailed_at  TIMESTAMPTZ,
    created_by TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    used_at    TIMESTAMPTZ
);
CREATE UNIQUE INDEX invitations_code_hash ON invitations (code_hash);
CREATE INDEX invitations_team_id_id ON invitations (team_id, id);

-- Sessions of the dashboard, workspace keys, and one-time links.
CREATE TABLE tokens (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind        TEXT COLLATE "C" NOT NULL,
    team_id     TEXT COLLATE "C" REFERENCES teams (id),
    account_id  TEXT COLLATE "C" REFERENCES accounts (id),
    hash        BYTEA NOT NULL,
    email       TEXT COLLATE "C" NOT NULL DEFAULT '', -- the address that a link of the kind "email" confirms
    -- By these, the owner of several sessions tells them apart.
    user_agent  TEXT COLLATE "C" NOT NULL DEFAULT '',
    remote_addr TEXT COLLATE "C" NOT NULL DEFAULT '',
    seen_at     TIMESTAMPTZ,
    created_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ,
    used_at     TIMESTAMPTZ
);
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_account_id_kind ON tokens (account_id, kind);

CREATE TABLE access_tokens (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id     TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    kind           TEXT COLLATE "C" NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    scopes         JSONB NOT NULL,
    hash           BYTEA NOT NULL,
    last4          TEXT COLLATE "C" NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL,
    last_used_at   TIMESTAMPTZ,
    last_used_from TEXT COLLATE "C" NOT NULL DEFAULT '' -- address of the client, '' if not known
);
CREATE UNIQUE INDEX access_tokens_hash ON access_tokens (hash);
CREATE INDEX access_tokens_account_id_id ON access_tokens (account_id, id);
CREATE INDEX access_tokens_expires_at ON access_tokens (expires_at);

-- Command lines that wait for a person to allow them an access token (RFC 8628).
CREATE TABLE device_grants (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    device_hash    BYTEA NOT NULL,
    user_hash      BYTEA NOT NULL,
    machine        TEXT COLLATE "C" NOT NULL,
    remote_addr    TEXT COLLATE "C" NOT NULL,
    scopes         JSONB NOT NULL,
    state          TEXT COLLATE "C" NOT NULL,
    account_id     TEXT COLLATE "C" REFERENCES accounts (id),
    poll_every     BIGINT NOT NULL,
    last_polled_at TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX device_grants_device_hash ON device_grants (device_hash);
CREATE UNIQUE INDEX device_grants_user_hash ON device_grants (user_hash);
CREATE INDEX device_grants_expires_at ON device_grants (expires_at);
CREATE INDEX device_grants_remote_addr ON device_grants (remote_addr);

------------------------------------------------------------------------------------------------
-- Projects, versions and environments
------------------------------------------------------------------------------------------------

CREATE TABLE products (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id      TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    name         TEXT COLLATE "C" NOT NULL,
    display_name TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    imported_keys BOOLEAN NOT NULL DEFAULT FALSE -- of the product, in any of its projects
);
CREATE UNIQUE INDEX products_team_id_name ON products (team_id, name);

CREATE TABLE projects (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id        TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    product_id     TEXT COLLATE "C" REFERENCES products (id),
    name           TEXT COLLATE "C" NOT NULL,
    display_name   TEXT COLLATE "C" NOT NULL,
    fallback_owner TEXT COLLATE "C" NOT NULL,
    limits         TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON object
    cors           TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON object; {}: left to the upstreams
    -- What app clients can request at the project's API: an audience, '' for none, and scopes, a JSON
    -- list of names with descriptions.
    api_audience   TEXT COLLATE "C" NOT NULL DEFAULT '',
    api_scopes     TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    imported_keys  BOOLEAN NOT NULL DEFAULT FALSE, -- keys of any form may be valid
    frozen_at      TIMESTAMPTZ,
    frozen_reason  TEXT COLLATE "C" NOT NULL DEFAULT '',
    -- A deleted project stays in the bin until purge_at: restoring it clears both columns, the purge
    -- deletes its rows.
    deleted_at     TIMESTAMPTZ,
    purge_at       TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX projects_name ON projects (name);
CREATE INDEX projects_product_id ON projects (product_id);
CREATE INDEX projects_purge_at ON projects (purge_at) WHERE purge_at IS NOT NULL;
-- A team can have thousands of projects. Its list is read in the order of an index. The number of
-- projects that are not in the bin is read from the index by name, and whether there are any in the bin
-- from the index by purge_at.
CREATE INDEX projects_team_id_id ON projects (team_id, id);
CREATE INDEX projects_team_id_name_deleted_at ON projects (team_id, name, deleted_at);
CREATE INDEX projects_team_id_purge_at ON projects (team_id, purge_at) WHERE purge_at IS NOT NULL;

CREATE TABLE versions (
    id                   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id           TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    name                 TEXT COLLATE "C" NOT NULL,
    requests_auth        TEXT COLLATE "C" NOT NULL, -- which calls are served, a JSON object
    ip_allow             TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    ip_deny              TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    introspection_secret BYTEA, -- sealed
    rules                TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- what routes require, a JSON object
    transforms           TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- changes to headers, a JSON object
    openapi_settings     TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- what the gateway does with the OpenAPI document
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX versions_project_id_name ON versions (project_id, name);

CREATE TABLE openapi_documents (
    version_id TEXT COLLATE "C" PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    document   BYTEA NOT NULL, -- JSON
    summary    TEXT COLLATE "C" NOT NULL, -- JSON: what the document says about its operations
    sha256     BYTEA NOT NULL, -- of the document
    unchecked  TEXT COLLATE "C" NOT NULL, -- JSON: what of the document requests are not checked against
    steps      BIGINT NOT NULL, -- of reading the document and compiling it, see core/openapi
    memory     BIGINT NOT NULL, -- bytes that what it is compiled to takes
    pattern_parts BIGINT NOT NULL, -- of all its patterns
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE environments (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version_id TEXT COLLATE "C" NOT NULL REFERENCES versions (id),
    name       TEXT COLLATE "C" NOT NULL,
    target     TEXT COLLATE "C" NOT NULL,
    upstream   TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- settings of the upstream, a JSON object
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX environments_version_id_name ON environments (version_id, name);

-- Headers with secret values that the gateway adds to calls to an environment's upstream.
CREATE TABLE upstream_headers (
    environment_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    name           TEXT COLLATE "C" NOT NULL, -- in the canonical form of net/http
    value          BYTEA, -- sealed
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (environment_id, name)
);

-- The certificate that the gateway presents to an environment's upstream.
CREATE TABLE upstream_certificates (
    environment_id TEXT COLLATE "C" PRIMARY KEY REFERENCES environments (id) ON DELETE CASCADE,
    chain          TEXT COLLATE "C" NOT NULL, -- PEM, the leaf first
    private_key    BYTEA, -- PEM (PKCS #8), sealed
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);

-- Keys with which the gateway signs a project's calls to its upstreams (RFC 9421). A project without
-- one does not sign.
CREATE TABLE call_signing_keys (
    project_id      TEXT COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    id              TEXT COLLATE "C" NOT NULL, -- the public key's thumbprint (RFC 7638)
    public_key      BYTEA NOT NULL,
    private_key     BYTEA, -- sealed
    signs_from      TIMESTAMPTZ NOT NULL,
    published_until TIMESTAMPTZ, -- NULL until a later key follows
    created_at      TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- Custom domains of environments: customers' host names, for all calls or for those with a path prefix and methods.
-- Only verified ones are served. The rows of a team with the same host have the same proof, and a host is verified for
-- one team at a time.
CREATE TABLE domains (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id     TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    environment_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    host           TEXT COLLATE "C" NOT NULL,
    path_prefix    TEXT COLLATE "C" NOT NULL, -- '' for all paths
    strip_prefix   BOOLEAN NOT NULL, -- before the call is forwarded
    methods        TEXT COLLATE "C" NOT NULL, -- sorted, with commas; '' for all methods
    challenge      TEXT COLLATE "C" NOT NULL, -- the value of its TXT record
    proof          TEXT COLLATE "C" NOT NULL, -- dns or operator; '' while it is not verified
    verified_at    TIMESTAMPTZ,
    checked_at     TIMESTAMPTZ, -- when its TXT record was last looked up
    missing_since  TIMESTAMPTZ, -- when the record of a verified name was first not found
    problem        TEXT COLLATE "C" NOT NULL, -- why the last lookup found no proof
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX domains_project_id_host ON domains (project_id, host, path_prefix, methods);
CREATE INDEX domains_host ON domains (host);
CREATE INDEX domains_environment_id ON domains (environment_id);

-- Certificates of custom host names, obtained with ACME (RFC 8555).
CREATE TABLE certificates (
    host        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    directory   TEXT COLLATE "C" NOT NULL, -- the ACME server of the last attempt
    chain       TEXT COLLATE "C" NOT NULL, -- PEM; '' while there is none
    private_key BYTEA, -- sealed
    ends_at     TIMESTAMPTZ,
    due_at      TIMESTAMPTZ NOT NULL, -- when it is obtained, renewed or tried again
    failures    BIGINT NOT NULL, -- since the last success
    problem     TEXT COLLATE "C" NOT NULL, -- why the last attempt failed
    holder      TEXT COLLATE "C" NOT NULL, -- the replica that is obtaining it
    held_until  TIMESTAMPTZ,
    challenge   TEXT COLLATE "C" NOT NULL, -- the token that every replica presents during this time
    updated_at  TIMESTAMPTZ NOT NULL
);

-- The installation's account at each ACME server. Gateways need its public key alone.
CREATE TABLE acme_accounts (
    directory   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    private_key BYTEA, -- sealed
    public_key  TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at  TIMESTAMPTZ NOT NULL
);

-- The change feed. Gateways read their state again for each new row.
CREATE TABLE revisions (
    id         BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    key_id     TEXT COLLATE "C" NOT NULL,
    -- The project's relations that changed: + and - with keys of relations, or * for all.
    relations  TEXT COLLATE "C" NOT NULL DEFAULT '',
    key_ids    TEXT COLLATE "C", -- a JSON list of keys that changed together
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX revisions_project_id_id ON revisions (project_id, id);

-- Revisions commit in the order of their ids: a reader that has seen id 8 never looks back for an id 7
-- that commits later. SQLite has one writer at a time; here a lock is taken while the server commits, when
-- it no longer waits for a client: a client that stops in the middle of a transaction cannot hold it.
-- +goose StatementBegin
CREATE FUNCTION number_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7620817935);
    UPDATE revisions SET id = nextval(pg_get_serial_sequence('revisions', 'id')) WHERE id = NEW.id;
    PERFORM pg_notify('postern_revisions', '');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE CONSTRAINT TRIGGER revisions_in_order AFTER INSERT ON revisions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION number_revision();

------------------------------------------------------------------------------------------------
-- Tenants and API keys
------------------------------------------------------------------------------------------------

-- A tenant belongs to a project, which has one named default, or to a team, which attaches it to
-- projects.
CREATE TABLE tenants (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id     TEXT COLLATE "C" REFERENCES projects (id),
    team_id        TEXT COLLATE "C" REFERENCES teams (id),
    name           TEXT COLLATE "C" NOT NULL,
    display_name   TEXT COLLATE "C" NOT NULL DEFAULT '',
    fallback_owner TEXT COLLATE "C" NOT NULL DEFAULT '',
    cors           TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON object; {}: as its projects say
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL DEFAULT now(),
    CHECK ((project_id IS NULL) <> (team_id IS NULL))
);
CREATE UNIQUE INDEX tenants_project_id_name ON tenants (project_id, name);
CREATE UNIQUE INDEX tenants_team_id_name ON tenants (team_id, name);

CREATE TABLE project_tenants (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, tenant_id)
);
CREATE INDEX project_tenants_tenant_id ON project_tenants (tenant_id);

CREATE TABLE key_types (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    name       TEXT COLLATE "C" NOT NULL,
    scopes     JSONB NOT NULL,
    expires_in BIGINT NOT NULL,
    built_in   BOOLEAN NOT NULL,
    limits     TEXT COLLATE "C" NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX key_types_project_id_name ON key_types (project_id, name);

CREATE TABLE api_keys (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id       TEXT COLLATE "C" NOT NULL, -- of the project: within it, hashes are unique
    project_id    TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    tenant_id     TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    key_type_id   TEXT COLLATE "C" NOT NULL REFERENCES key_types (id),
    product_id    TEXT COLLATE "C" REFERENCES products (id),
    owner         TEXT COLLATE "C" NOT NULL,
    environment   TEXT COLLATE "C" NOT NULL,
    description   TEXT COLLATE "C" NOT NULL,
    state         TEXT COLLATE "C" NOT NULL,
    limits        TEXT COLLATE "C", -- NULL: those of its type
    allowed_cidrs TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    hash          BYTEA NOT NULL,
    old_hash      BYTEA,
    grace_ends_at TIMESTAMPTZ,
    expires_at    TIMESTAMPTZ,
    last_used_at  TIMESTAMPTZ,
    prefix        TEXT COLLATE "C" NOT NULL,
    last4         TEXT COLLATE "C" NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    metadata      TEXT COLLATE "C" NOT NULL DEFAULT '', -- a JSON object, '' for the empty one
    consumer      TEXT COLLATE "C", -- NULL: that of this gateway
    credential_id TEXT COLLATE "C"  -- NULL: the id
);
CREATE UNIQUE INDEX api_keys_team_id_hash ON api_keys (team_id, hash);
CREATE INDEX api_keys_team_id_old_hash ON api_keys (team_id, old_hash) WHERE old_hash IS NOT NULL;
CREATE INDEX api_keys_owner ON api_keys (owner); -- which keys belong to a frozen user
-- The search finds owners by their beginning, which only the order of bytes (C) serves.
CREATE INDEX api_keys_owner_bytes ON api_keys (owner COLLATE "C");
-- The orders of a project's list of keys.
CREATE INDEX api_keys_project_id_id ON api_keys (project_id, id);
CREATE INDEX api_keys_project_id_owner_id ON api_keys (project_id, owner, id);
CREATE INDEX api_keys_last_used ON api_keys
    (project_id, COALESCE(last_used_at, '0001-01-01 00:00:00+00:00'), id);
-- The same orders of the keys that a product has, in the lists of all its projects.
CREATE INDEX api_keys_product_id_id ON api_keys (product_id, id) WHERE product_id IS NOT NULL;
CREATE INDEX api_keys_product_id_owner_id ON api_keys (product_id, owner, id) WHERE product_id IS NOT NULL;
CREATE INDEX api_keys_product_last_used ON api_keys
    (product_id, COALESCE(last_used_at, '0001-01-01 00:00:00+00:00'), id) WHERE product_id IS NOT NULL;
-- An export reads the keys of each tenant separately.
CREATE INDEX api_keys_project_id_tenant_id_id ON api_keys (project_id, tenant_id, id);
-- A preview of an export counts most keys, and reads those that the ledger may mention.
CREATE INDEX api_keys_special ON api_keys (project_id, id)
    WHERE state <> 'active' OR limits IS NOT NULL OR allowed_cidrs <> '[]' OR old_hash IS NOT NULL
    OR expires_at IS NOT NULL;
-- Deleting a key type or a tenant counts its keys first.
CREATE INDEX api_keys_key_type_id ON api_keys (key_type_id);
CREATE INDEX api_keys_tenant_id ON api_keys (tenant_id);
-- Retention removes those that were revoked long ago.
CREATE INDEX api_keys_revoked ON api_keys (updated_at) WHERE state = 'revoked';

-- Hashes of revoked keys that were removed, so that no import brings one of them back.
CREATE TABLE revoked_hashes (
    team_id TEXT COLLATE "C" NOT NULL,
    hash    BYTEA NOT NULL,
    PRIMARY KEY (team_id, hash)
);

------------------------------------------------------------------------------------------------
-- Users and groups of a tenant
------------------------------------------------------------------------------------------------

CREATE TABLE end_users (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id      TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    email          TEXT COLLATE "C" NOT NULL,
    email_verified BOOLEAN NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    -- The claims that a provider stated at the last sign-in, as a JSON object of at most 8 KB; '' for none.
    profile        TEXT COLLATE "C" NOT NULL DEFAULT '',
    state          TEXT COLLATE "C" NOT NULL,
    -- The names that a provisioning system (SCIM) has for the user; NULL if none does.
    user_name      TEXT COLLATE "C",
    external_id    TEXT COLLATE "C",
    -- The invitation link by which the user can be taken: the SHA-256 of its code, NULL for none.
    invitation_hash    BYTEA,
    invitation_ends_at TIMESTAMPTZ,
    -- When the user last left a group or stopped being an admin of one, NULL if not known. Gateways
    -- refuse access tokens that were issued before, because these name the group.
    groups_left_at TIMESTAMPTZ,
    last_login_at  TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX end_users_tenant_id_id ON end_users (tenant_id, id);
CREATE INDEX end_users_tenant_id_email ON end_users (tenant_id, email);
CREATE INDEX end_users_tenant_id_email_bytes ON end_users (tenant_id, email COLLATE "C");
CREATE INDEX end_users_email ON end_users (email); -- the search in all tenants
CREATE UNIQUE INDEX end_users_tenant_id_user_name ON end_users (tenant_id, user_name);
CREATE INDEX end_users_tenant_id_external_id ON end_users (tenant_id, external_id);
CREATE UNIQUE INDEX end_users_invitation_hash ON end_users (invitation_hash) WHERE invitation_hash IS NOT NULL;
CREATE INDEX end_users_frozen ON end_users (tenant_id, updated_at) WHERE state = 'frozen';
CREATE INDEX end_users_groups_left_at ON end_users (tenant_id, groups_left_at) WHERE groups_left_at IS NOT NULL;

-- Deleted users whose tokens may still be valid: gateways refuse them until ends_at. The tenant is not
-- referenced, because it can be deleted before.
CREATE TABLE deleted_users (
    user_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id TEXT COLLATE "C" NOT NULL,
    ends_at   TIMESTAMPTZ NOT NULL
);
CREATE INDEX deleted_users_tenant_id_ends_at ON deleted_users (tenant_id, ends_at);
CREATE INDEX deleted_users_ends_at ON deleted_users (ends_at);

CREATE TABLE identities (
    tenant_id   TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    issuer      TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    provider_id TEXT COLLATE "C" NOT NULL,
    -- The id that the provider's directory has for the user, which SCIM sends as externalId; '' for none.
    directory_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, issuer, subject)
);
CREATE INDEX identities_tenant_id_directory_id ON identities (tenant_id, directory_id) WHERE directory_id <> '';
CREATE INDEX identities_user_id ON identities (user_id);

CREATE TABLE signup_policies (
    tenant_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tenants (id),
    invite_only BOOLEAN NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL
);

CREATE TABLE approvals (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    kind       TEXT COLLATE "C" NOT NULL, -- email or domain
    value      TEXT COLLATE "C" NOT NULL,
    groups     TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX approvals_tenant_id_kind_value ON approvals (tenant_id, kind, value);

CREATE TABLE user_groups (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id    TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name         TEXT COLLATE "C" NOT NULL,
    display_name TEXT COLLATE "C" NOT NULL,
    external_id  TEXT COLLATE "C", -- of a provisioning system (SCIM)
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX user_groups_tenant_id_name ON user_groups (tenant_id, name);
CREATE INDEX user_groups_tenant_id_external_id ON user_groups (tenant_id, external_id);

CREATE TABLE group_members (
    group_id   TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id),
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    role       TEXT COLLATE "C" NOT NULL, -- member or admin
    mapped     BOOLEAN NOT NULL DEFAULT FALSE, -- the membership ends with its last row in mapped_members
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_user_id ON group_members (user_id);

-- App owners of keys that are in a group, by the owner's name: apps have no rows, so a name stays in the group
-- without keys.
CREATE TABLE group_owners (
    group_id   TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id),
    owner      TEXT COLLATE "C" NOT NULL, -- as in api_keys
    role       TEXT COLLATE "C" NOT NULL, -- member or admin
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (group_id, owner)
);

-- Members of the child are members of the parent.
CREATE TABLE group_groups (
    parent_id  TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id),
    child_id   TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (parent_id, child_id)
);
CREATE INDEX group_groups_child_id ON group_groups (child_id);

-- The owners of objects, for rules with owner.
CREATE TABLE relations (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    object     TEXT COLLATE "C" NOT NULL, -- in its canonical form, such as order:42
    relation   TEXT COLLATE "C" NOT NULL,
    "user"     TEXT COLLATE "C" NOT NULL, -- usr_…, an app that owns keys, or subject and issuer of a token
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, tenant_id, object, relation, "user")
);
CREATE INDEX relations_user ON relations ("user", project_id);
CREATE INDEX relations_tenant_id ON relations (tenant_id);
-- The orders of a project's list of owners, which can have a million rows.
CREATE INDEX relations_project_id_object ON relations (project_id, object, tenant_id);
CREATE INDEX relations_project_id_user ON relations (project_id, "user", tenant_id, object);
CREATE INDEX relations_project_id_created_at ON relations (project_id, created_at, tenant_id, object);

------------------------------------------------------------------------------------------------
-- Hosted login
------------------------------------------------------------------------------------------------

CREATE TABLE app_clients (
    id                     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id              TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name                   TEXT COLLATE "C" NOT NULL,
    redirect_uris          TEXT COLLATE "C" NOT NULL,
    logout_uris            TEXT COLLATE "C" NOT NULL,
    backchannel_logout_uri TEXT COLLATE "C" NOT NULL DEFAULT '', -- receives the sessions that have ended, '' for none
    secret_hash            BYTEA, -- NULL for a public client
    pkce                   TEXT COLLATE "C" NOT NULL DEFAULT 'required', -- or when_sent, for clients with a secret
    access_token_seconds   BIGINT NOT NULL,
    refresh_token_seconds  BIGINT NOT NULL, -- 0: no refresh tokens
    algorithm              TEXT COLLATE "C" NOT NULL,
    grant_types            TEXT COLLATE "C" NOT NULL DEFAULT '["authorization_code","refresh_token"]', -- JSON list
    api_scopes             TEXT COLLATE "C" NOT NULL DEFAULT '[]', -- the API scopes that it may request, a JSON list
    frozen_at              TIMESTAMPTZ,
    title                  TEXT COLLATE "C" NOT NULL,
    welcome                TEXT COLLATE "C" NOT NULL,
    logo_url               TEXT COLLATE "C" NOT NULL,
    color                  TEXT COLLATE "C" NOT NULL,
    created_at             TIMESTAMPTZ NOT NULL,
    updated_at             TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX app_clients_tenant_id_name ON app_clients (tenant_id, name);

CREATE TABLE providers (
    id                    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    app_client_id         TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    type                  TEXT COLLATE "C" NOT NULL,
    label                 TEXT COLLATE "C" NOT NULL DEFAULT '', -- on its button, '' for the type's name
    managed               BOOLEAN NOT NULL,
    client_id             TEXT COLLATE "C" NOT NULL, -- of the app that is registered with the provider
    client_secret         BYTEA, -- sealed
    issuer                TEXT COLLATE "C" NOT NULL,
    scopes                TEXT COLLATE "C" NOT NULL,
    audience              TEXT COLLATE "C" NOT NULL DEFAULT '', -- of access tokens. Auth0 issues opaque ones without it
    response_mode         TEXT COLLATE "C" NOT NULL DEFAULT '', -- of oidc: query or form_post
    client_token          TEXT COLLATE "C" NOT NULL,
    upstream_token        TEXT COLLATE "C" NOT NULL,
    authoritative_domains TEXT COLLATE "C" NOT NULL DEFAULT '[]', -- of mail addresses, JSON
    -- Mail domains whose users are sent to the provider, JSON. No two providers of an app client share one.
    sign_in_domains       TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    endpoints             TEXT COLLATE "C" NOT NULL DEFAULT '', -- of its discovery document, JSON; '' until it was read
    enabled               BOOLEAN NOT NULL,
    created_at            TIMESTAMPTZ NOT NULL,
    updated_at            TIMESTAMPTZ NOT NULL
);
CREATE INDEX providers_app_client_id_id ON providers (app_client_id, id);

-- Rules by which a provider's claims put its users into groups at each sign-in.
CREATE TABLE group_mappings (
    provider_id TEXT COLLATE "C" NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
    position    BIGINT NOT NULL,
    claim       TEXT COLLATE "C" NOT NULL, -- a path
    value       TEXT COLLATE "C" NOT NULL,
    match       TEXT COLLATE "C" NOT NULL, -- exact or prefix
    group_id    TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    PRIMARY KEY (provider_id, position)
);
CREATE INDEX group_mappings_group_id ON group_mappings (group_id);

-- The providers whose claims put a user into a group.
CREATE TABLE mapped_members (
    group_id    TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL,
    provider_id TEXT COLLATE "C" NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id, provider_id),
    FOREIGN KEY (group_id, user_id) REFERENCES group_members (group_id, user_id) ON DELETE CASCADE
);
CREATE INDEX mapped_members_provider_id ON mapped_members (provider_id, user_id);

-- Claims of group mappings that a provider did not state at a user's last sign-in with it, one a line.
-- There is a row only while there are some.
CREATE TABLE unstated_claims (
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES end_users (id) ON DELETE CASCADE,
    provider_id TEXT COLLATE "C" NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
    withheld    TEXT COLLATE "C" NOT NULL,
    unavailable TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, provider_id)
);
CREATE INDEX unstated_claims_provider_id ON unstated_claims (provider_id);

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
    user_agent     TEXT COLLATE "C" NOT NULL DEFAULT '', -- of the browser
    redirect_uri   TEXT COLLATE "C" NOT NULL,
    state          TEXT COLLATE "C" NOT NULL,
    nonce          TEXT COLLATE "C" NOT NULL,
    scope          TEXT COLLATE "C" NOT NULL,
    resources      TEXT COLLATE "C" NOT NULL DEFAULT '[]', -- requested audiences (RFC 8707), a JSON list
    response_mode  TEXT COLLATE "C" NOT NULL DEFAULT '', -- form_post, or '' for query
    code_challenge TEXT COLLATE "C" NOT NULL, -- '' for none
    -- What the request demands of the authentication, and hints for the provider.
    prompt         TEXT COLLATE "C" NOT NULL DEFAULT '',
    max_age        BIGINT,
    acr_values     TEXT COLLATE "C" NOT NULL DEFAULT '',
    login_hint     TEXT COLLATE "C" NOT NULL DEFAULT '',
    ui_locales     TEXT COLLATE "C" NOT NULL DEFAULT '',
    hint_user      TEXT COLLATE "C" NOT NULL DEFAULT '', -- the user that the request's ID token named, '' for none
    link_user      TEXT COLLATE "C" NOT NULL DEFAULT '', -- the user that the sign-in links a provider to, '' for none
    invitation_hash BYTEA, -- of the link that the sign-in began with, NULL for none
    tester         TEXT COLLATE "C" NOT NULL DEFAULT '', -- the account that tests the login, if any
    stated         BYTEA, -- what the provider stated in a test, sealed, until the result is shown
    ticket         BYTEA, -- while the user is asked for consent: who signed in, sealed, without tokens of the provider
    answered_at    TIMESTAMPTZ,
    finished_at    TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_attempts_expires_at ON login_attempts (expires_at);

-- One login of one user at one app client. Its refresh tokens belong to it.
CREATE TABLE login_sessions (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id    TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    provider_id  TEXT COLLATE "C" NOT NULL,
    scope        TEXT COLLATE "C" NOT NULL,
    resources    TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    nonce        TEXT COLLATE "C" NOT NULL,
    -- What the provider stated: when and how the user authenticated.
    auth_time    TIMESTAMPTZ,
    acr          TEXT COLLATE "C" NOT NULL DEFAULT '',
    amr          TEXT COLLATE "C" NOT NULL DEFAULT '',
    -- The session at the hosted pages: the SHA-256 of the browser's cookie, and when it was last used.
    cookie_hash  BYTEA,
    seen_at      TIMESTAMPTZ,
    user_agent   TEXT COLLATE "C" NOT NULL DEFAULT '',
    barred_until TIMESTAMPTZ, -- gateways refuse the ended session's access tokens until then
    ended_at     TIMESTAMPTZ,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_sessions_user_id ON login_sessions (user_id);
CREATE INDEX login_sessions_expires_at ON login_sessions (expires_at);
CREATE UNIQUE INDEX login_sessions_cookie_hash ON login_sessions (cookie_hash) WHERE cookie_hash IS NOT NULL;
CREATE INDEX login_sessions_barred_until ON login_sessions (client_id, barred_until) WHERE barred_until IS NOT NULL;

-- Codes and refresh tokens, by their SHA-256.
CREATE TABLE login_grants (
    hash           BYTEA NOT NULL PRIMARY KEY,
    kind           TEXT COLLATE "C" NOT NULL, -- code or refresh
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES login_sessions (id),
    redirect_uri   TEXT COLLATE "C" NOT NULL,
    code_challenge TEXT COLLATE "C" NOT NULL,
    -- Those of a request that a session answered without a new sign-in; '' for those of the session.
    scope          TEXT COLLATE "C" NOT NULL DEFAULT '',
    nonce          TEXT COLLATE "C" NOT NULL DEFAULT '',
    resources      TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    -- The refresh token that followed a used one, sealed, for as long as the used one returns it again.
    successor      BYTEA,
    used_at        TIMESTAMPTZ,
    created_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_grants_session_id ON login_grants (session_id);
CREATE INDEX login_grants_expires_at ON login_grants (expires_at);
CREATE INDEX login_grants_successor ON login_grants (used_at) WHERE successor IS NOT NULL;

-- What a user has agreed that an app client learns.
CREATE TABLE login_consents (
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    client_id  TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    scope      TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX login_consents_client_id ON login_consents (client_id);

-- Ended sessions that an app client has not been told about yet. The user and the session are not
-- referenced, because they can be deleted before.
CREATE TABLE logout_notices (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id  TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    session_id TEXT COLLATE "C" NOT NULL,
    user_id    TEXT COLLATE "C" NOT NULL,
    attempts   BIGINT NOT NULL,
    due_at     TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX logout_notices_due_at ON logout_notices (due_at);
CREATE INDEX logout_notices_client_id ON logout_notices (client_id);

------------------------------------------------------------------------------------------------
-- Usage and other counts
--
-- These tables reference nothing: counts must be written even if a project, a version or a key has been
-- deleted since.
------------------------------------------------------------------------------------------------

-- Counts of calls that are not added to usage_hours yet. A flush of many counts appends here, and each
-- minute one process adds them to the hourly rows.
CREATE TABLE usage_log (
    id         TEXT COLLATE "C" PRIMARY KEY,
    written_at BIGINT NOT NULL, -- Unix seconds
    sums       BIGINT NOT NULL, -- number of counts in payload
    payload    BYTEA NOT NULL
);

CREATE TABLE usage_hours (
    project_id     TEXT COLLATE "C" NOT NULL,
    hour           BIGINT NOT NULL, -- whole hours since 1970-01-01T00:00Z
    environment_id TEXT COLLATE "C" NOT NULL,
    owner          TEXT COLLATE "C" NOT NULL,
    key_id         TEXT COLLATE "C" NOT NULL,
    route          TEXT COLLATE "C" NOT NULL,
    status_class   BIGINT NOT NULL, -- first digit of the status code
    calls          BIGINT NOT NULL,
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    PRIMARY KEY (project_id, hour, environment_id, owner, key_id, route, status_class)
);

-- The hours of days that have ended, summed up.
CREATE TABLE usage_days (
    project_id     TEXT COLLATE "C" NOT NULL,
    day            BIGINT NOT NULL, -- whole days since 1970-01-01, UTC
    environment_id TEXT COLLATE "C" NOT NULL,
    owner          TEXT COLLATE "C" NOT NULL,
    key_id         TEXT COLLATE "C" NOT NULL,
    route          TEXT COLLATE "C" NOT NULL,
    status_class   BIGINT NOT NULL,
    calls          BIGINT NOT NULL,
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    PRIMARY KEY (project_id, day, environment_id, owner, key_id, route, status_class)
);

-- Sums of 3 and of 9 days. A month of usage is read from 5 to 7 of these sums and days, not from 30 days.
CREATE TABLE usage_spans (
    project_id     TEXT COLLATE "C" NOT NULL,
    days           BIGINT NOT NULL, -- length: 3 or 9
    since          BIGINT NOT NULL, -- in whole lengths since 1970-01-01, UTC
    environment_id TEXT COLLATE "C" NOT NULL,
    owner          TEXT COLLATE "C" NOT NULL,
    key_id         TEXT COLLATE "C" NOT NULL,
    route          TEXT COLLATE "C" NOT NULL,
    status_class   BIGINT NOT NULL,
    calls          BIGINT NOT NULL,
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    PRIMARY KEY (project_id, days, since, environment_id, owner, key_id, route, status_class)
);

-- What of a project is summed up.
CREATE TABLE usage_folds (
    project_id    TEXT COLLATE "C" PRIMARY KEY,
    through_day   BIGINT NOT NULL, -- last day whose hours are in usage_days
    -- All spans within these days exist, both inclusive. NULL: none.
    spans_from    BIGINT,
    spans_through BIGINT
);

-- Traffic of a project by the minute, the hour and the day, and of its routes by the hour and the day.
CREATE TABLE usage_traffic (
    project_id     TEXT COLLATE "C" NOT NULL,
    level          TEXT COLLATE "C" NOT NULL, -- project or route
    period         BIGINT NOT NULL, -- in seconds: 60, 3600 or 86400
    since          BIGINT NOT NULL, -- in whole periods since 1970-01-01T00:00Z
    environment_id TEXT COLLATE "C" NOT NULL, -- '' for a project
    route          TEXT COLLATE "C" NOT NULL, -- '' for a project
    answered       BIGINT NOT NULL,
    rejected       BIGINT NOT NULL, -- status 4xx
    failed         BIGINT NOT NULL, -- status 5xx
    rejected_here  BIGINT NOT NULL, -- of rejected: refused by Postern, without asking the upstream
    failed_here    BIGINT NOT NULL, -- of failed: the same
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    first_byte     BYTEA NOT NULL, -- histogram: the first bucket and the counts from it on, as varints
    total          BYTEA NOT NULL,
    PRIMARY KEY (project_id, level, period, since, environment_id, route)
);
CREATE INDEX usage_traffic_minutes ON usage_traffic (since) WHERE period = 60;

CREATE TABLE limit_counts (
    project_id TEXT COLLATE "C" NOT NULL,
    dimension  TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    period     TEXT COLLATE "C" NOT NULL,
    starts_at  BIGINT NOT NULL, -- Unix seconds
    ends_at    BIGINT NOT NULL,
    calls      BIGINT NOT NULL,
    PRIMARY KEY (project_id, dimension, subject, period)
);
CREATE INDEX limit_counts_ends_at ON limit_counts (ends_at);

-- Calls that rules in shadow would have refused.
CREATE TABLE shadow_refusals (
    project_id TEXT COLLATE "C" NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL,
    rule       TEXT COLLATE "C" NOT NULL, -- id, default or read_write_scopes
    code       TEXT COLLATE "C" NOT NULL,
    day        BIGINT NOT NULL, -- whole days since 1970-01-01, UTC
    calls      BIGINT NOT NULL,
    last_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, version_id, rule, code, day)
);

-- Answers that named no object to remember.
CREATE TABLE relation_misses (
    project_id TEXT COLLATE "C" NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL,
    rule       TEXT COLLATE "C" NOT NULL,
    reason     TEXT COLLATE "C" NOT NULL,
    day        BIGINT NOT NULL, -- whole days since 1970-01-01, UTC
    calls      BIGINT NOT NULL,
    last_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, version_id, rule, reason, day)
);

-- Calls that did not match the OpenAPI document and were forwarded all the same.
CREATE TABLE invalid_requests (
    project_id TEXT COLLATE "C" NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL,
    operation  TEXT COLLATE "C" NOT NULL, -- of the document, such as GET /orders/{id}
    day        BIGINT NOT NULL, -- whole days since 1970-01-01, UTC
    calls      BIGINT NOT NULL,
    problem    TEXT COLLATE "C" NOT NULL, -- of the last one
    last_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, version_id, operation, day)
);

------------------------------------------------------------------------------------------------
-- Exports
------------------------------------------------------------------------------------------------

CREATE TABLE exports (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id   TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    format       TEXT COLLATE "C" NOT NULL,
    keys         TEXT COLLATE "C" NOT NULL,
    consumers    BOOLEAN NOT NULL,
    secrets      BOOLEAN NOT NULL DEFAULT FALSE,
    recipient    TEXT COLLATE "C" NOT NULL DEFAULT '',
    file_key     BYTEA,
    requested_by TEXT COLLATE "C" NOT NULL DEFAULT '', -- as the audit log names actors
    state        TEXT COLLATE "C" NOT NULL,
    part         TEXT COLLATE "C" NOT NULL,
    rows_done    BIGINT NOT NULL,
    rows_total   BIGINT NOT NULL,
    size_bytes   BIGINT NOT NULL,
    sha256       TEXT COLLATE "C" NOT NULL,
    exact        BIGINT NOT NULL,
    approximate  BIGINT NOT NULL,
    lossy        BIGINT NOT NULL,
    skipped      BIGINT NOT NULL,
    configured_exact       BIGINT NOT NULL,
    configured_approximate BIGINT NOT NULL,
    configured_lossy       BIGINT NOT NULL,
    configured_skipped     BIGINT NOT NULL,
    problem      TEXT COLLATE "C" NOT NULL,
    lease_id     TEXT COLLATE "C" NOT NULL,
    lease_until  TIMESTAMPTZ,
    created_at   TIMESTAMPTZ NOT NULL,
    finished_at  TIMESTAMPTZ,
    expires_at   TIMESTAMPTZ
);
CREATE INDEX exports_project_id_id ON exports (project_id, id);
CREATE INDEX exports_state ON exports (state);

-- The ledger of an export, summed up by codes: gzipped JSON.
CREATE TABLE export_ledgers (
    export_id TEXT COLLATE "C" PRIMARY KEY REFERENCES exports (id) ON DELETE CASCADE,
    document  BYTEA NOT NULL
);

-- The installation's keys for signing exports. The newest signs; the public parts of all of them stay
-- published.
CREATE TABLE export_keys (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    public_key  BYTEA NOT NULL,
    private_key BYTEA, -- sealed
    created_at  TIMESTAMPTZ NOT NULL
);

------------------------------------------------------------------------------------------------
-- Webhooks
------------------------------------------------------------------------------------------------

CREATE TABLE webhooks (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id            TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    url                TEXT COLLATE "C" NOT NULL,
    description        TEXT COLLATE "C" NOT NULL,
    events             TEXT COLLATE "C" NOT NULL,
    enabled            BOOLEAN NOT NULL,
    disabled_reason    TEXT COLLATE "C" NOT NULL,
    failing_since      TIMESTAMPTZ,
    secret             BYTEA, -- sealed
    old_secret         BYTEA, -- sealed
    old_secret_ends_at TIMESTAMPTZ,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL
);
CREATE INDEX webhooks_team_id_id ON webhooks (team_id, id);

CREATE TABLE webhook_deliveries (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook_id   TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id),
    event        TEXT COLLATE "C" NOT NULL,
    payload      TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    attempts     BIGINT NOT NULL,
    last_status  BIGINT NOT NULL, -- of the receiver's last answer; 0 for none
    last_answer  TEXT COLLATE "C" NOT NULL DEFAULT '', -- its beginning
    last_error   TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    attempted_at TIMESTAMPTZ,
    finished_at  TIMESTAMPTZ
);
CREATE INDEX webhook_deliveries_webhook_id_id ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_finished_at ON webhook_deliveries (finished_at);

------------------------------------------------------------------------------------------------
-- Audit log
------------------------------------------------------------------------------------------------

CREATE TABLE audit_entries (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id     TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL DEFAULT 0, -- place in the team's chain, from 1
    hash        TEXT COLLATE "C" NOT NULL DEFAULT '', -- of the entry and the hash before it
    actor       TEXT COLLATE "C" NOT NULL,
    token_id    TEXT COLLATE "C" NOT NULL DEFAULT '',
    action      TEXT COLLATE "C" NOT NULL,
    object      TEXT COLLATE "C" NOT NULL,
    project_id  TEXT COLLATE "C" NOT NULL DEFAULT '',
    outcome     TEXT COLLATE "C" NOT NULL,
    detail      JSONB NOT NULL,
    changes     JSONB NOT NULL DEFAULT '{}',
    remote_addr TEXT COLLATE "C" NOT NULL,
    request_id  TEXT COLLATE "C" NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX audit_entries_team_id_id ON audit_entries (team_id, id);
-- The chain, and the filters of the log, newest first.
CREATE INDEX audit_entries_team_id_number ON audit_entries (team_id, number);
CREATE INDEX audit_entries_project_id_number ON audit_entries (project_id, number);
CREATE INDEX audit_entries_object_number ON audit_entries (object, number);
CREATE INDEX audit_entries_team_id_action_number ON audit_entries (team_id, action, number);
CREATE INDEX audit_entries_team_id_actor_number ON audit_entries (team_id, actor, number);
CREATE INDEX audit_entries_refused ON audit_entries (team_id, number) WHERE outcome = 'refused';

-- The end of each team's chain.
CREATE TABLE audit_chains (
    team_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    number  BIGINT NOT NULL,
    hash    TEXT COLLATE "C" NOT NULL
);

------------------------------------------------------------------------------------------------
-- Operation
------------------------------------------------------------------------------------------------

-- Keys that seal secrets, wrapped with the installation's key. Teams are not referenced: a workspace that
-- is merged into a team leaves its data key behind, which still opens what it sealed.
CREATE TABLE data_keys (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id         TEXT COLLATE "C" NOT NULL,
    wrapped         BYTEA NOT NULL,
    -- Wrapped with the gateway key too, for what gateways need: a gateway that has that key alone opens
    -- nothing else. Empty: gateways do not need the data key.
    gateway_wrapped BYTEA NOT NULL DEFAULT '',
    created_at      TIMESTAMPTZ NOT NULL
);
CREATE INDEX data_keys_team_id_id ON data_keys (team_id, id);

CREATE TABLE idempotent_requests (
    lookup      BYTEA NOT NULL PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    lease_id    TEXT COLLATE "C" NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    carried_out BOOLEAN NOT NULL,
    answer      BYTEA NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX idempotent_requests_expires_at ON idempotent_requests (expires_at);

-- Plans of imports that wait to be applied. The file has hashes of its keys.
CREATE TABLE import_plans (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id        TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    file           BYTEA, -- sealed
    set_values     BYTEA, -- of placeholders, sealed
    choices        TEXT COLLATE "C" NOT NULL, -- a JSON object
    trusted        TEXT COLLATE "C" NOT NULL, -- what trusted targets need, by their addresses; a JSON object
    applying_until TIMESTAMPTZ, -- while the plan is applied
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX import_plans_team_id_id ON import_plans (team_id, id);
CREATE INDEX import_plans_expires_at ON import_plans (expires_at);

-- How far imports of keys have come that can be repeated with the same Idempotency-Key. digest is of the rows so far.
CREATE TABLE key_imports (
    lookup      BYTEA NOT NULL PRIMARY KEY,
    attempt     TEXT COLLATE "C" NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    batches     BIGINT NOT NULL,
    digest      BYTEA NOT NULL,
    result      TEXT COLLATE "C" NOT NULL, -- a JSON object without keys
    done        BOOLEAN NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX key_imports_expires_at ON key_imports (expires_at);

-- Imports of other gateways' files into a team, and the objects that they created or changed.
CREATE TABLE move_ins (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id    TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    gateway    TEXT COLLATE "C" NOT NULL, -- such as kong
    result     TEXT COLLATE "C" NOT NULL, -- a JSON object
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX move_ins_team_id_id ON move_ins (team_id, id);

CREATE TABLE moved_objects (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    move_in_id TEXT COLLATE "C" NOT NULL REFERENCES move_ins (id),
    team_id    TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    gateway    TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    object     TEXT COLLATE "C" NOT NULL, -- its ID, or the name of an owner; empty for keys
    within     TEXT COLLATE "C" NOT NULL, -- the ID of the project, or else of the tenant, that it belongs to
    source     TEXT COLLATE "C" NOT NULL, -- identifies it in the file
    planned    BYTEA NOT NULL, -- SHA-256 of what the plan had
    written    BYTEA NOT NULL, -- SHA-256 of what was written
    keys       TEXT COLLATE "C",          -- a JSON list of IDs of keys
    updated_by TEXT COLLATE "C"           -- the last import that changed it
);
CREATE INDEX moved_objects_team_id_gateway ON moved_objects (team_id, gateway);
CREATE INDEX moved_objects_move_in_id ON moved_objects (move_in_id);

-- Processes that work on jobs. One that has not been seen for some seconds is dead, and its jobs are
-- given to others.
CREATE TABLE workers (
    id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seen_at TIMESTAMPTZ NOT NULL
);

-- Gateways that report on targets. One that has not been seen for some seconds is dead, and its reports do not count.
CREATE TABLE gateways (
    id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seen_at TIMESTAMPTZ NOT NULL
);

-- Targets that are not healthy for a gateway.
CREATE TABLE target_reports (
    gateway_id     TEXT COLLATE "C" NOT NULL REFERENCES gateways (id) ON DELETE CASCADE,
    environment_id TEXT COLLATE "C" NOT NULL,
    target         TEXT COLLATE "C" NOT NULL, -- host, and port unless that is the scheme's
    project_id     TEXT COLLATE "C" NOT NULL,
    state          TEXT COLLATE "C" NOT NULL,
    reason         TEXT COLLATE "C" NOT NULL,
    since          TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (gateway_id, environment_id, target)
);
CREATE INDEX target_reports_project ON target_reports (project_id);

-- What webhooks were last told about targets.
CREATE TABLE target_health (
    environment_id TEXT COLLATE "C" NOT NULL,
    target         TEXT COLLATE "C" NOT NULL,
    project_id     TEXT COLLATE "C" NOT NULL,
    state          TEXT COLLATE "C" NOT NULL, -- healthy or unhealthy
    since          TIMESTAMPTZ NOT NULL,
    quiet_since    TIMESTAMPTZ, -- since when no gateway reports an unhealthy target
    PRIMARY KEY (environment_id, target)
);
CREATE INDEX target_health_project ON target_health (project_id);

-- The programs that can use this schema, see migrations.Check.
CREATE TABLE schema_compatibility (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL, -- newest step known to the program that migrated last
    oldest  BIGINT NOT NULL, -- newest step that a program must know at least
    digest  TEXT COLLATE "C" NOT NULL -- of the steps; '' until they are applied
);
INSERT INTO schema_compatibility (id, version, oldest, digest) VALUES (1, 1, 1, '');
