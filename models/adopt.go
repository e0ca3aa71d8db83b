package models

import (
	"context"
	"fmt"
)

// adoptBatch is how many earlier entries are read at a time.
const adoptBatch = 500

// adoptAudit chains the entries from before there were chains, once: after that, an
// entry without a number was not written by Postern. The chain of the team "", which
// it creates, shows that it is done.
func (d *DB) adoptAudit(ctx context.Context) error {
	err := d.Write(ctx, func(tx *Tx) error {
		if err := tx.lockTable("audit_chains"); err != nil { // replicas that start together
			return err
		}
		begun, err := tx.auditBegun()
		if err != nil || begun {
			return err
		}
		if _, err := tx.lockChain(""); err != nil {
			return err
		}
		teams, err := tx.AuditTeams()
		if err != nil {
			return err
		}
		for _, team := range teams {
			if err := tx.adoptTeam(team); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("models: chain the earlier audit entries: %w", err)
	}
	return nil
}

func (t *Tx) auditBegun() (bool, error) {
	var n int64
	err := t.db.Model(&AuditChain{}).Where("team_id = ''").Count(&n).Error
	return n > 0, err
}

func (t *Tx) adoptTeam(team string) error {
	chain, err := t.lockChain(team)
	if err != nil {
		return err
	}
	for {
		entries, err := t.AuditUnchained(team, adoptBatch)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := chain.take(&e); err != nil {
				return err
			}
			if err := t.db.Model(&e).Select("Number", "Hash").UpdateColumns(&e).Error; err != nil {
				return err
			}
		}
		if len(entries) < adoptBatch {
			return t.moveChain(chain)
		}
	}
}
