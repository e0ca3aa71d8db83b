-- +goose Up
-- Until when gateways refuse the access tokens of a session that was ended; NULL where
-- they expire by themselves.
ALTER TABLE login_sessions ADD COLUMN barred_until DATETIME;
CREATE INDEX login_sessions_barred_until ON login_sessions (client_id, barred_until) WHERE barred_until IS NOT NULL;

-- +goose Down
DROP INDEX login_sessions_barred_until;
ALTER TABLE login_sessions DROP COLUMN barred_until;
