-- +goose Up
-- Headers that calls carry to the upstream of an environment, with secret values. They
-- end with the environment.
CREATE TABLE upstream_headers (
    environment_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    name           TEXT COLLATE "C" NOT NULL, -- in the canonical form of net/http
    value          BYTEA, -- sealed
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (environment_id, name)
);

-- +goose Down
DROP TABLE upstream_headers;
