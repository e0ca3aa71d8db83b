-- +goose Up
-- Where an app client is told that a session has ended, '' for nowhere.
ALTER TABLE app_clients ADD COLUMN backchannel_uri TEXT NOT NULL DEFAULT '';

-- The ended sessions that an app client has still to be told of. Older code ends sessions
-- without one. The user and the session are not referenced: they can be deleted before.
CREATE TABLE logout_notices (
    id         TEXT NOT NULL PRIMARY KEY,
    client_id  TEXT NOT NULL REFERENCES app_clients (id),
    session_id TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    due_at     DATETIME NOT NULL,
    created_at DATETIME NOT NULL
);
CREATE INDEX logout_notices_due_at ON logout_notices (due_at);
CREATE INDEX logout_notices_client_id ON logout_notices (client_id);

-- +goose Down
DROP TABLE logout_notices;
ALTER TABLE app_clients DROP COLUMN backchannel_uri;
