-- +goose Up
-- What the provider stated in a test login, sealed, until its result is shown.
ALTER TABLE login_attempts ADD COLUMN stated BLOB;

-- +goose Down
ALTER TABLE login_attempts DROP COLUMN stated;
