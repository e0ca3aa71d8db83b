-- +goose Up
-- Rules by which the claims of a provider put its users into groups at each sign-in. Older
-- code ignores them and would leave users in groups that they have to leave, so it must not
-- run on this schema.
CREATE TABLE group_mappings (
    provider_id TEXT COLLATE "C" NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
    position    BIGINT NOT NULL,
    claim       TEXT COLLATE "C" NOT NULL, -- a path
    value       TEXT COLLATE "C" NOT NULL,
    match       TEXT COLLATE "C" NOT NULL, -- exact or prefix
    group_id    TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    PRIMARY KEY (provider_id, position)
);
CREATE INDEX group_mappings_group_id ON group_mappings (group_id);

-- Whether only providers' claims put the user into the group: the membership ends with the
-- last of the rows below.
ALTER TABLE group_members ADD COLUMN mapped BOOLEAN NOT NULL DEFAULT FALSE;

-- Which provider's claims put a user into a group.
CREATE TABLE mapped_members (
    group_id    TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL,
    provider_id TEXT COLLATE "C" NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id, provider_id),
    FOREIGN KEY (group_id, user_id) REFERENCES group_members (group_id, user_id) ON DELETE CASCADE
);
CREATE INDEX mapped_members_provider_id ON mapped_members (provider_id, user_id);

-- +goose Down
DROP TABLE mapped_members;
ALTER TABLE group_members DROP COLUMN mapped;
DROP TABLE group_mappings;
