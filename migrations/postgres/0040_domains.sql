-- +goose Up
-- Host names of customers by which callers reach an environment. Only verified ones are
-- served, and a name is verified for one project at a time.
CREATE TABLE domains (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id     TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    environment_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    host           TEXT COLLATE "C" NOT NULL,
    challenge      TEXT COLLATE "C" NOT NULL, -- the value of its TXT record
    proof          TEXT COLLATE "C" NOT NULL, -- dns or operator; '' while it is not verified
    verified_at    TIMESTAMPTZ,
    checked_at     TIMESTAMPTZ,      -- when its TXT record was last looked up
    missing_since  TIMESTAMPTZ,      -- when the record of a verified name was first not found
    problem        TEXT COLLATE "C" NOT NULL, -- why the last lookup found no proof
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX domains_project_id_host ON domains (project_id, host);
CREATE UNIQUE INDEX domains_host_verified ON domains (host) WHERE verified_at IS NOT NULL;
CREATE INDEX domains_environment_id ON domains (environment_id);

-- +goose Down
DROP TABLE domains;
