-- +goose Up
-- What pages show is read from sums: of a project by the minute, the hour and the day, of its routes by the hour and
-- the day, and of everything else by the day. Older code neither writes nor reads these tables; rows of usage_hours
-- that it writes for a day that has ended are folded into them.
CREATE TABLE usage_traffic (
    project_id     TEXT COLLATE "C" NOT NULL,
    level          TEXT COLLATE "C" NOT NULL, -- project, or route
    period         BIGINT NOT NULL, -- in seconds: 60, 3600 or 86400
    since          BIGINT NOT NULL, -- in whole periods since 1970-01-01T00:00Z
    environment_id TEXT COLLATE "C" NOT NULL, -- '' for a project
    route          TEXT COLLATE "C" NOT NULL, -- '' for a project
    answered       BIGINT NOT NULL,
    rejected       BIGINT NOT NULL, -- status 4xx
    failed         BIGINT NOT NULL, -- status 5xx
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    first_byte     BYTEA NOT NULL, -- histogram: the first bucket and the counts from it on, as varints
    total          BYTEA NOT NULL,
    PRIMARY KEY (project_id, level, period, since, environment_id, route)
);

CREATE INDEX usage_traffic_minutes ON usage_traffic (since) WHERE period = 60;

CREATE TABLE usage_days (
    project_id     TEXT COLLATE "C" NOT NULL,
    day            BIGINT NOT NULL, -- whole days since 1970-01-01, UTC
    environment_id TEXT COLLATE "C" NOT NULL,
    owner          TEXT COLLATE "C" NOT NULL,
    key_id         TEXT COLLATE "C" NOT NULL,
    route          TEXT COLLATE "C" NOT NULL,
    status_class   BIGINT NOT NULL,
    calls          BIGINT NOT NULL,
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    PRIMARY KEY (project_id, day, environment_id, owner, key_id, route, status_class)
);

-- Up to which day, inclusive, the hours of a project are folded into days.
CREATE TABLE usage_folds (
    project_id  TEXT COLLATE "C" PRIMARY KEY,
    through_day BIGINT NOT NULL
);
