-- +goose Up
-- Keys with which the gateway signs the calls of a project to its upstreams (RFC 9421). A
-- project without one does not sign.
CREATE TABLE call_signing_keys (
    project_id      TEXT COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    id              TEXT COLLATE "C" NOT NULL, -- the public key's thumbprint (RFC 7638)
    public_key      BYTEA NOT NULL,
    private_key     BYTEA, -- sealed
    signs_from      TIMESTAMPTZ NOT NULL,
    published_until TIMESTAMPTZ, -- NULL until a later key follows
    created_at      TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- +goose Down
DROP TABLE call_signing_keys;
