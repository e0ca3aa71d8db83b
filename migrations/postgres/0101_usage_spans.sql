-- +goose Up
-- Usage of several days, summed up from usage_days: of 3 days, and of 9. A month of usage is read from 5 to 7 of these
-- sums and days, not from 30 days. Older code neither writes nor reads them. It adds calls that ended long after
-- their day to usage_days alone: therefore a day is summed up a day after the hours are.
CREATE TABLE usage_spans (
    project_id     TEXT COLLATE "C" NOT NULL,
    days           BIGINT NOT NULL, -- length: 3 or 9
    since          BIGINT NOT NULL, -- in whole lengths since 1970-01-01, UTC
    environment_id TEXT COLLATE "C" NOT NULL,
    owner          TEXT COLLATE "C" NOT NULL,
    key_id         TEXT COLLATE "C" NOT NULL,
    route          TEXT COLLATE "C" NOT NULL,
    status_class   BIGINT NOT NULL,
    calls          BIGINT NOT NULL,
    bytes_in       BIGINT NOT NULL,
    bytes_out      BIGINT NOT NULL,
    PRIMARY KEY (project_id, days, since, environment_id, owner, key_id, route, status_class)
);

-- All spans within these days exist, both inclusive. Absent: none.
ALTER TABLE usage_folds ADD COLUMN spans_from BIGINT;
ALTER TABLE usage_folds ADD COLUMN spans_through BIGINT;

-- +goose Down
ALTER TABLE usage_folds DROP COLUMN spans_through;
ALTER TABLE usage_folds DROP COLUMN spans_from;
DROP TABLE usage_spans;
