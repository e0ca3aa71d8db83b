-- +goose Up
-- The search finds owners and addresses by their beginning, which the indexes on owner and email
-- serve here: SQLite compares bytes. PostgreSQL gets indexes of its own in this step.
SELECT 1;
