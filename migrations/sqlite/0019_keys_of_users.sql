-- +goose Up
-- Which keys are an end user's is asked of each project, for each frozen one.
CREATE INDEX api_keys_owner ON api_keys (owner);
