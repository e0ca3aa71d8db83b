-- The roles of PostgreSQL for a Postern whose processes have separate roles (postern serve --roles), each with
-- the rights that its process uses. docs/database.md explains them.
--
-- Run it as a superuser in Postern's database, after `postern migrate` as postern_owner, and again after each
-- upgrade: what an upgrade adds is not readable for gateways before.
--
--   psql --dbname postern --single-transaction --set ON_ERROR_STOP=1 --file roles.sql
--
-- New roles have no password and cannot sign in before they get one: ALTER ROLE postern_gateway PASSWORD '…'.

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

-- The owner creates and changes tables, and has every right in them. Only `postern migrate` signs in as it.
GRANT USAGE, CREATE ON SCHEMA public TO postern_owner;
GRANT USAGE ON SCHEMA public TO postern_control, postern_gateway, postern_worker;

-- A right that an earlier version of this file gave, and this one does not, ends.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM postern_control, postern_gateway, postern_worker;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM postern_control, postern_gateway, postern_worker;

-- Control plane and workers read and write every table, but neither the schema's version nor what the audit
-- log holds: entries can only be added, and removed by workers when their time is over. Tables that a later
-- `postern migrate` adds are theirs at once.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO postern_control, postern_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO postern_control, postern_worker;
ALTER DEFAULT PRIVILEGES FOR ROLE postern_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO postern_control, postern_worker;
ALTER DEFAULT PRIVILEGES FOR ROLE postern_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO postern_control, postern_worker;
REVOKE INSERT, UPDATE, DELETE ON goose_db_version, schema_compatibility FROM postern_control, postern_worker;
REVOKE UPDATE, DELETE ON audit_entries FROM postern_control, postern_worker;
GRANT DELETE ON audit_entries TO postern_worker;

-- From version 17 on, workers rebuild the indexes of the queue as its owner would. Before, they log that they
-- cannot, once a day.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON river_job TO postern_worker';
    END IF;
END
$$;

-- Gateways read what they serve. Of these tables, gateways may read all columns. Sealed values among them are
-- those that the gateway key opens: credentials for upstreams and introspection endpoints, private keys of
-- certificates, and the secrets of providers whose own tokens callers send. It opens no other provider's secret. Of
-- API keys gateways read hashes.
GRANT SELECT ON
    api_keys, call_signing_keys, data_keys, deleted_users, domains, environments, group_groups, group_members,
    identities, key_types, openapi_documents, products, project_tenants, projects, providers, tenants,
    upstream_certificates, upstream_headers, user_groups, versions,
    certificates,
    goose_db_version, schema_compatibility
    TO postern_gateway;

-- Of others, some columns: no hash of a client's secret, no private key that signs hosted login's tokens, no
-- cookie, no name or e-mail address of a user.
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

-- Gateways write what they count, when a key was used last, and owners of objects that rules remember, with the
-- revision by which others learn of them. The trigger of revisions numbers them.
GRANT SELECT, INSERT, UPDATE ON usage_hours, usage_days, usage_spans, usage_traffic TO postern_gateway;
GRANT SELECT ON usage_folds TO postern_gateway;
GRANT INSERT ON usage_log TO postern_gateway;
GRANT SELECT, INSERT, UPDATE ON relation_misses, shadow_refusals, invalid_requests TO postern_gateway;
GRANT SELECT, INSERT, UPDATE, DELETE ON limit_counts TO postern_gateway;
GRANT UPDATE (last_used_at) ON api_keys TO postern_gateway;
GRANT SELECT, INSERT, DELETE ON relations TO postern_gateway;
GRANT SELECT, INSERT, UPDATE (id) ON revisions TO postern_gateway;
GRANT USAGE ON SEQUENCE revisions_id_seq TO postern_gateway;
