-- +goose Up
-- The user's session at the hosted pages: the SHA-256 of the browser's cookie, when it
-- was last used, and what the browser calls itself. Sessions that older code made have
-- none of it: they are good for their tokens only.
ALTER TABLE login_sessions ADD COLUMN cookie_hash BLOB;
ALTER TABLE login_sessions ADD COLUMN seen_at DATETIME;
ALTER TABLE login_sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX login_sessions_cookie_hash ON login_sessions (cookie_hash) WHERE cookie_hash IS NOT NULL;

-- Scopes and nonce of a request that a session answered without a new sign-in; '' for
-- those of the session.
ALTER TABLE login_grants ADD COLUMN scope TEXT NOT NULL DEFAULT '';
ALTER TABLE login_grants ADD COLUMN nonce TEXT NOT NULL DEFAULT '';

-- The user that an ID token of the request named, the user whom the sign-in links a
-- provider to, and what the browser calls itself; '' for none.
ALTER TABLE login_attempts ADD COLUMN hint_user TEXT NOT NULL DEFAULT '';
ALTER TABLE login_attempts ADD COLUMN link_user TEXT NOT NULL DEFAULT '';
ALTER TABLE login_attempts ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE login_attempts DROP COLUMN user_agent;
ALTER TABLE login_attempts DROP COLUMN link_user;
ALTER TABLE login_attempts DROP COLUMN hint_user;
ALTER TABLE login_grants DROP COLUMN nonce;
ALTER TABLE login_grants DROP COLUMN scope;
DROP INDEX login_sessions_cookie_hash;
ALTER TABLE login_sessions DROP COLUMN user_agent;
ALTER TABLE login_sessions DROP COLUMN seen_at;
ALTER TABLE login_sessions DROP COLUMN cookie_hash;
