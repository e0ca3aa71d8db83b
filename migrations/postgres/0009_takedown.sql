-- +goose Up
ALTER TABLE projects ADD COLUMN frozen_at     TIMESTAMPTZ;
ALTER TABLE projects ADD COLUMN frozen_reason TEXT COLLATE "C" NOT NULL DEFAULT '';
