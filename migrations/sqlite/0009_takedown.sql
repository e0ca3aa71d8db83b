-- +goose Up
ALTER TABLE projects ADD COLUMN frozen_at     DATETIME;
ALTER TABLE projects ADD COLUMN frozen_reason TEXT NOT NULL DEFAULT '';
