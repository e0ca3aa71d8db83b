-- +goose Up
-- Which programs can use this schema: version is the newest step that the program
-- knew which migrated last, oldest the newest step that a program must know at
-- least. See migrations.Check.
CREATE TABLE schema_compatibility (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL,
    oldest  BIGINT NOT NULL
);
INSERT INTO schema_compatibility (id, version, oldest) VALUES (1, 21, 21);

-- +goose Down
DROP TABLE schema_compatibility;
