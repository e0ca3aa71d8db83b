-- +goose Up
-- What the client asked for of the page itself, and the account that tries a login
-- out from the dashboard, "" for the logins of people.
ALTER TABLE login_attempts ADD COLUMN prompt TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE login_attempts ADD COLUMN tester TEXT COLLATE "C" NOT NULL DEFAULT '';

-- What a person has agreed that an app client learns.
CREATE TABLE login_consents (
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES end_users (id),
    client_id  TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id),
    scope      TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX login_consents_client_id ON login_consents (client_id);
