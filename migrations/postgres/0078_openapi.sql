-- +goose Up
-- The OpenAPI document of a version. Older code ignores it: its exports have a generated one.
CREATE TABLE openapi_documents (
    version_id TEXT COLLATE "C" PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    document   BYTEA NOT NULL, -- JSON
    summary    TEXT COLLATE "C" NOT NULL, -- JSON: what the document says of its operations
    sha256     BYTEA NOT NULL, -- of the document
    updated_at TIMESTAMPTZ NOT NULL
);
