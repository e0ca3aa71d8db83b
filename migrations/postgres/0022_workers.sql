-- +goose Up
-- The processes that work on jobs. One that was not seen for seconds is dead, and
-- its jobs are given to others.
CREATE TABLE workers (
    id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seen_at TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE workers;
