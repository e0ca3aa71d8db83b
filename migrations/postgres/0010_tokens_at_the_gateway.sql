-- +goose Up
ALTER TABLE versions ADD COLUMN token_issuers TEXT COLLATE "C" NOT NULL DEFAULT '[]';
