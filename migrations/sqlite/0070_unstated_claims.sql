-- +goose Up
-- Claims of group mappings that a provider did not state at a user's last sign-in with it,
-- one a line. There is a row only while there are some. Older code neither reads nor
-- writes it: the audit log can then lack an entry, or have one twice.
CREATE TABLE unstated_claims (
    user_id     TEXT NOT NULL REFERENCES end_users (id) ON DELETE CASCADE,
    provider_id TEXT NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
    withheld    TEXT NOT NULL,
    unavailable TEXT NOT NULL,
    PRIMARY KEY (user_id, provider_id)
);
CREATE INDEX unstated_claims_provider_id ON unstated_claims (provider_id);

-- +goose Down
DROP TABLE unstated_claims;
