-- +goose Up
-- Headers that calls carry to the upstream of an environment, with secret values. They
-- end with the environment.
CREATE TABLE upstream_headers (
    environment_id TEXT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    name           TEXT NOT NULL, -- in the canonical form of net/http
    value          BLOB, -- sealed
    created_at     DATETIME NOT NULL,
    updated_at     DATETIME NOT NULL,
    PRIMARY KEY (environment_id, name)
);

-- +goose Down
DROP TABLE upstream_headers;
