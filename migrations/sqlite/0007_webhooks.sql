-- +goose Up
CREATE INDEX teams_expires_at ON teams (expires_at);

CREATE TABLE webhooks (
    id                 TEXT NOT NULL PRIMARY KEY,
    team_id            TEXT NOT NULL REFERENCES teams (id),
    url                TEXT NOT NULL,
    description        TEXT NOT NULL,
    events             TEXT NOT NULL,
    enabled            BOOLEAN NOT NULL,
    disabled_reason    TEXT NOT NULL,
    failing_since      DATETIME,
    secret             BLOB,
    old_secret         BLOB,
    old_secret_ends_at DATETIME,
    created_at         DATETIME NOT NULL,
    updated_at         DATETIME NOT NULL
);
CREATE INDEX webhooks_team_id_id ON webhooks (team_id, id);

CREATE TABLE webhook_deliveries (
    id           TEXT NOT NULL PRIMARY KEY,
    webhook_id   TEXT NOT NULL REFERENCES webhooks (id),
    event        TEXT NOT NULL,
    payload      TEXT NOT NULL,
    state        TEXT NOT NULL,
    attempts     BIGINT NOT NULL,
    last_status  BIGINT NOT NULL, -- of the receiver's last answer; 0 for none
    last_error   TEXT NOT NULL,
    created_at   DATETIME NOT NULL,
    attempted_at DATETIME,
    finished_at  DATETIME
);
CREATE INDEX webhook_deliveries_webhook_id_id ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_finished_at ON webhook_deliveries (finished_at);
