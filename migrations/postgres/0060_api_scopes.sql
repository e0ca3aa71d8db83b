-- +goose Up
-- What app clients can ask for at a project's API: an audience, "" for none, and
-- scopes, a JSON list of names with descriptions.
ALTER TABLE projects ADD COLUMN api_audience TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE projects ADD COLUMN api_scopes TEXT COLLATE "C" NOT NULL DEFAULT '[]';

-- The API scopes that an app client may ask for, and the audiences that a login asked
-- for (RFC 8707), JSON lists.
ALTER TABLE app_clients ADD COLUMN api_scopes TEXT COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE login_attempts ADD COLUMN resources TEXT COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE login_sessions ADD COLUMN resources TEXT COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE login_grants ADD COLUMN resources TEXT COLLATE "C" NOT NULL DEFAULT '[]';
