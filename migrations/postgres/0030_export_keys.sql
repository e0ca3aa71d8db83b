-- +goose Up
-- What the installation signs exports with. Exports are signed with the newest; the
-- public parts of all of them stay published.
CREATE TABLE export_keys (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    public_key  BYTEA NOT NULL,
    private_key BYTEA, -- sealed
    created_at  TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE export_keys;
