-- +goose Up
-- The certificate that the gateway presents to the upstream of an environment. It ends
-- with the environment.
CREATE TABLE upstream_certificates (
    environment_id TEXT PRIMARY KEY REFERENCES environments (id) ON DELETE CASCADE,
    chain          TEXT NOT NULL, -- PEM, the leaf first
    private_key    BLOB, -- PEM (PKCS #8), sealed
    created_at     DATETIME NOT NULL,
    updated_at     DATETIME NOT NULL
);

-- +goose Down
DROP TABLE upstream_certificates;
