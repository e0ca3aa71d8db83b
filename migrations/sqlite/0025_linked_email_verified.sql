-- +goose Up
-- Whether the issuer says that the address is the person's. Links made before are
-- taken for unproven until the next sign-in with them.
ALTER TABLE linked_accounts ADD COLUMN email_verified BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE linked_accounts DROP COLUMN email_verified;
