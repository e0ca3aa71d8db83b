-- +goose Up
-- Which pages of other origins may call with credentials of a tenant, a JSON object; {}: as its projects say.
ALTER TABLE tenants ADD COLUMN cors TEXT NOT NULL DEFAULT '{}';
