-- +goose Up
-- Teams are not referenced: a workspace that is merged into a team leaves its
-- data key behind, and what it sealed goes on being opened with it.
CREATE TABLE data_keys (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id    TEXT COLLATE "C" NOT NULL,
    wrapped    BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX data_keys_team_id_id ON data_keys (team_id, id);
