-- +goose Up
-- The refresh token that followed a used one, sealed, for as long as the used one gives
-- it again. Grants that older code used have none: their reuse ends the session.
ALTER TABLE login_grants ADD COLUMN successor BLOB;
CREATE INDEX login_grants_successor ON login_grants (used_at) WHERE successor IS NOT NULL;

-- +goose Down
DROP INDEX login_grants_successor;
ALTER TABLE login_grants DROP COLUMN successor;
