-- +goose Up
-- The team that a claimed workspace was merged into, whose members read the audit
-- log it had until then; NULL for all other teams.
ALTER TABLE teams ADD COLUMN merged_into TEXT REFERENCES teams (id);
CREATE INDEX teams_merged_into ON teams (merged_into);

-- Claims from before this column are in the audit log, which each of them is in once.
UPDATE teams SET merged_into = (
    SELECT MIN(e.team_id) FROM audit_entries e JOIN teams t ON t.id = e.team_id
    WHERE e.action = 'workspace.claim' AND e.outcome = 'done' AND e.object = teams.id AND e.team_id <> teams.id
) WHERE claimed_at IS NOT NULL;
