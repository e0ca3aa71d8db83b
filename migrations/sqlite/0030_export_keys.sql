-- +goose Up
-- What the installation signs exports with. Exports are signed with the newest; the
-- public parts of all of them stay published.
CREATE TABLE export_keys (
    id          TEXT NOT NULL PRIMARY KEY,
    public_key  BLOB NOT NULL,
    private_key BLOB, -- sealed
    created_at  DATETIME NOT NULL
);

-- +goose Down
DROP TABLE export_keys;
