-- +goose Up
-- What the gateway does with the OpenAPI document of a version, a JSON object. Older code would forward
-- what is to be refused, so it must not run on this schema.
ALTER TABLE versions ADD COLUMN openapi_settings TEXT COLLATE "C" NOT NULL DEFAULT '{}';

-- Calls that did not match the document and were forwarded all the same. Versions are not referenced:
-- writing what was counted must not fail because of what has become of them since.
CREATE TABLE invalid_requests (
    project_id TEXT COLLATE "C" NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL,
    operation  TEXT COLLATE "C" NOT NULL, -- of the document, such as GET /orders/{id}
    day        BIGINT NOT NULL, -- whole days since 1970-01-01, UTC
    calls      BIGINT NOT NULL,
    problem    TEXT COLLATE "C" NOT NULL, -- of the last one
    last_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, version_id, operation, day)
);
