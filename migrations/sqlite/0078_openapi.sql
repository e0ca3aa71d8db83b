-- +goose Up
-- The OpenAPI document of a version. Older code ignores it: its exports have a generated one.
CREATE TABLE openapi_documents (
    version_id TEXT PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    document   BLOB NOT NULL, -- JSON
    summary    TEXT NOT NULL, -- JSON: what the document says of its operations
    sha256     BLOB NOT NULL, -- of the document
    updated_at DATETIME NOT NULL
);
