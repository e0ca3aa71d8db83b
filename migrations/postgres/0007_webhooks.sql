-- +goose Up
CREATE INDEX teams_expires_at ON teams (expires_at);

CREATE TABLE webhooks (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id            TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    url                TEXT COLLATE "C" NOT NULL,
    description        TEXT COLLATE "C" NOT NULL,
    events             TEXT COLLATE "C" NOT NULL,
    enabled            BOOLEAN NOT NULL,
    disabled_reason    TEXT COLLATE "C" NOT NULL,
    failing_since      TIMESTAMPTZ,
    secret             BYTEA,
    old_secret         BYTEA,
    old_secret_ends_at TIMESTAMPTZ,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL
);
CREATE INDEX webhooks_team_id_id ON webhooks (team_id, id);

CREATE TABLE webhook_deliveries (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook_id   TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id),
    event        TEXT COLLATE "C" NOT NULL,
    payload      TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    attempts     BIGINT NOT NULL,
    last_status  BIGINT NOT NULL, -- of the receiver's last answer; 0 for none
    last_error   TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    attempted_at TIMESTAMPTZ,
    finished_at  TIMESTAMPTZ
);
CREATE INDEX webhook_deliveries_webhook_id_id ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_finished_at ON webhook_deliveries (finished_at);
