-- PostgreSQL roles for an installation whose processes have separate roles (postern serve --roles), each with only
-- the privileges that its process needs. docs/database.md explains them.
--
-- Run this file as a superuser in Postern's database, after `postern migrate` as postern_owner, and again after each
-- upgrade: until then, gateways can't read new tables.
--
--   psql --dbname postern --single-transaction --set ON_ERROR_STOP=1 --file roles.sql
--
-- New roles don't have a password and can't sign in until you set one: ALTER ROLE postern_gateway PASSWORD '…'.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['postern_owner', 'postern_control', 'postern_gateway', 'postern_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE', wanted);
        END IF;
    END LOOP;
END
$$;

-- The owner creates and changes tables, and has all privileges on them. Only `postern migrate` signs in as the owner.
GRANT USAGE, CREATE ON SCHEMA public TO postern_owner;
GRANT USAGE ON SCHEMA public TO postern_control, postern_gateway, postern_worker;

-- Removes privileges that an earlier version of this file granted and this one doesn't.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM postern_control, postern_gateway, postern_worker;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM postern_control, postern_gateway, postern_worker;

-- Control plane and workers read and write every table, except for the schema version and existing audit log entries:
-- entries can only be added, and workers remove them when their retention ends. When a later `postern migrate` adds
-- tables, the roles have access to them at once.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO postern_control, postern_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO postern_control, postern_worker;
ALTER DEFAULT PRIVILEGES FOR ROLE postern_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO postern_control, postern_worker;
ALTER DEFAULT PRIVILEGES FOR ROLE postern_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO postern_control, postern_worker;
REVOKE INSERT, UPDATE, DELETE ON goose_db_version, schema_compatibility FROM postern_control, postern_worker;
REVOKE UPDATE, DELETE ON audit_entries FROM postern_control, postern_worker;
GRANT DELETE ON audit_entries TO postern_worker;

-- With PostgreSQL 17 or newer, workers rebuild the queue's indexes as their owner would. With older versions, they log
-- once a day that they can't.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON river_job TO postern_worker';
    END IF;
END
$$;

-- Gateways can read all columns of these tables. The gateway key decrypts the encrypted values in them: credentials for
-- upstreams and introspection endpoints, private keys of certificates, and the secrets of providers whose own tokens
-- callers send. It doesn't decrypt other providers' secrets. Of API keys, gateways can read only hashes.
GRANT SELECT ON
    api_keys, call_signing_keys, data_keys, deleted_users, domains, environments, group_groups, group_members,
    group_owners, identities, key_types, openapi_documents, products, project_tenants, projects, providers,
    revoked_hashes, tenants, upstream_certificates, upstream_headers, user_groups, versions,
    certificates,
    goose_db_version, schema_compatibility
    TO postern_gateway;

-- They can read some columns of other tables, but not the hashes of client secrets, the private keys that sign hosted
-- login's tokens, cookies, or names and email addresses of users.
GRANT SELECT (id, claimed_at, expires_at) ON teams TO postern_gateway;
GRANT SELECT (
    id, tenant_id, name, redirect_uris, logout_uris, backchannel_logout_uri, api_scopes, grant_types, frozen_at,
    access_token_seconds, refresh_token_seconds, algorithm, pkce, title, welcome, logo_url, color, created_at,
    updated_at
) ON app_clients TO postern_gateway;
GRANT SELECT (directory, public_key) ON acme_accounts TO postern_gateway;
GRANT SELECT (id, client_id, algorithm, public_jwk, active_at, expires_at, created_at) ON signing_keys
    TO postern_gateway;
GRANT SELECT (id, tenant_id, state, updated_at, groups_left_at) ON end_users TO postern_gateway;
GRANT SELECT (id, client_id, barred_until) ON login_sessions TO postern_gateway;

-- Gateways write counts, the last use of keys, and the owners of objects that rules record. A revision tells the other
-- gateways about the owners. A trigger numbers the revisions.
GRANT SELECT, INSERT, UPDATE ON usage_hours, usage_days, usage_spans, usage_traffic TO postern_gateway;
GRANT SELECT ON usage_folds TO postern_gateway;
GRANT INSERT ON usage_log TO postern_gateway;
GRANT SELECT, INSERT, UPDATE ON relation_misses, shadow_refusals, invalid_requests TO postern_gateway;
GRANT SELECT, INSERT, UPDATE, DELETE ON limit_counts TO postern_gateway;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateways TO postern_gateway;
GRANT SELECT, INSERT, DELETE ON target_reports TO postern_gateway;
GRANT UPDATE (last_used_at) ON api_keys TO postern_gateway;
GRANT SELECT, INSERT, DELETE ON relations TO postern_gateway;
GRANT SELECT, INSERT, UPDATE (id) ON revisions TO postern_gateway;
GRANT USAGE ON SEQUENCE revisions_id_seq TO postern_gateway;
