-- +goose Up
-- Keys with which the gateway signs the calls of a project to its upstreams (RFC 9421). A
-- project without one does not sign.
CREATE TABLE call_signing_keys (
    project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    id              TEXT NOT NULL, -- the public key's thumbprint (RFC 7638)
    public_key      BLOB NOT NULL,
    private_key     BLOB, -- sealed
    signs_from      DATETIME NOT NULL,
    published_until DATETIME, -- NULL until a later key follows
    created_at      DATETIME NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- +goose Down
DROP TABLE call_signing_keys;
