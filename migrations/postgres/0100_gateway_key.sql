-- +goose Up
-- What gateways need is sealed with data keys of its own, which the gateway key wraps too: a gateway that has that key
-- alone opens nothing else. Empty: gateways do not need the data key. The public key of an account at an ACME server is
-- all that they need of it. Older code ignores both columns: it opens every data key by "wrapped".
ALTER TABLE data_keys ADD COLUMN gateway_wrapped BYTEA NOT NULL DEFAULT '';
ALTER TABLE acme_accounts ADD COLUMN public_key TEXT COLLATE "C" NOT NULL DEFAULT '';
