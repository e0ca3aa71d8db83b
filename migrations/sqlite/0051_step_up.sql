-- +goose Up
-- What an authorization request demands of the authentication, and hints for the provider.
-- Requests that older code stored demand nothing.
ALTER TABLE login_attempts ADD COLUMN max_age INTEGER;
ALTER TABLE login_attempts ADD COLUMN acr_values TEXT NOT NULL DEFAULT '';
ALTER TABLE login_attempts ADD COLUMN login_hint TEXT NOT NULL DEFAULT '';
ALTER TABLE login_attempts ADD COLUMN ui_locales TEXT NOT NULL DEFAULT '';

-- What the provider stated: when and how the user authenticated. Sessions that older code
-- made have none of it.
ALTER TABLE login_sessions ADD COLUMN auth_time DATETIME;
ALTER TABLE login_sessions ADD COLUMN acr TEXT NOT NULL DEFAULT '';
ALTER TABLE login_sessions ADD COLUMN amr TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE login_sessions DROP COLUMN amr;
ALTER TABLE login_sessions DROP COLUMN acr;
ALTER TABLE login_sessions DROP COLUMN auth_time;
ALTER TABLE login_attempts DROP COLUMN ui_locales;
ALTER TABLE login_attempts DROP COLUMN login_hint;
ALTER TABLE login_attempts DROP COLUMN acr_values;
ALTER TABLE login_attempts DROP COLUMN max_age;
