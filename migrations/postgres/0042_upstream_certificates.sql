-- +goose Up
-- The certificate that the gateway presents to the upstream of an environment. It ends
-- with the environment.
CREATE TABLE upstream_certificates (
    environment_id TEXT COLLATE "C" PRIMARY KEY REFERENCES environments (id) ON DELETE CASCADE,
    chain          TEXT COLLATE "C" NOT NULL, -- PEM, the leaf first
    private_key    BYTEA, -- PEM (PKCS #8), sealed
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE upstream_certificates;
