-- +goose Up
-- Which pages of other origins may call a project, a JSON object; {}: left to upstreams.
ALTER TABLE projects ADD COLUMN cors TEXT COLLATE "C" NOT NULL DEFAULT '{}';
