-- +goose Up
ALTER TABLE versions ADD COLUMN token_issuers TEXT NOT NULL DEFAULT '[]';
