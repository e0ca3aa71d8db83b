package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"postern/core/contract"
	"postern/migrations"
)

// The outcomes of a request.
const (
	OutcomeDone    = "done"
	OutcomeRefused = "refused"
)

// AuditEntry is a row of audit_entries. It holds ids, names and settings, never secrets. The entries of a team form a
// chain, and so do those without a team, whose TeamID is "".
type AuditEntry struct {
	ID         string `gorm:"primaryKey"`
	TeamID     string
	Number     int64  // place in the chain, from 1; 0 if it isn't in a chain
	Hash       string // hexadecimal SHA-256; see ChainHash
	Actor      string
	TokenID    string // of the credential, "" for a visitor without one
	Action     string
	Object     string // ID of the object of the action
	ProjectID  string // of the object's project, "" for none
	Outcome    string
	Detail     map[string]string               `gorm:"serializer:json"`
	Changes    map[string]contract.AuditChange `gorm:"serializer:json"`
	RemoteAddr string
	RequestID  string
	CreatedAt  time.Time
}

// AuditChain is a row of audit_chains: the end of a chain. It reveals when the last entries of the chain are missing.
type AuditChain struct {
	TeamID string `gorm:"primaryKey"`
	Number int64
	Hash   string
}

// ChainHash returns the hash of an entry that follows an entry with the hash previous: the hash of its ChainText.
func (e AuditEntry) ChainHash(previous string) (string, error) {
	text, err := e.ChainText(previous)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// ChainText returns the JSON object that is hashed: previous and every field of the entry,
// members of maps ordered by name. It is the same before the entry is stored and after it
// is read.
func (e AuditEntry) ChainText(previous string) ([]byte, error) {
	detail, err := asRead(e.Detail)
	if err != nil {
		return nil, err
	}
	changes, err := asRead(e.Changes)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(struct {
		Previous, ID, Team                 string
		Number                             int64
		Actor, Token, Action, Object       string
		Project, Outcome, Address, Request string
		Time                               string
		Detail                             map[string]string
		Changes                            map[string]contract.AuditChange
	}{
		Previous: previous,
		ID:       e.ID,
		Team:     e.TeamID,
		Number:   e.Number,
		Actor:    e.Actor,
		Token:    e.TokenID,
		Action:   e.Action,
		Object:   e.Object,
		Project:  e.ProjectID,
		Outcome:  e.Outcome,
		Address:  e.RemoteAddr,
		Request:  e.RequestID,
		Time:     e.CreatedAt.UTC().Format(time.RFC3339Nano),
		Detail:   detail,
		Changes:  changes,
	})
	if err != nil {
		return nil, fmt.Errorf("models: the audit entry %s as JSON: %w", e.ID, err)
	}
	return text, nil
}

// asRead gives values the form that they have when they come back as JSON.
func asRead[T any](facts map[string]T) (map[string]T, error) {
	text, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("models: the facts of an audit entry as JSON: %w", err)
	}
	out := map[string]T{}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("models: read the facts of an audit entry: %w", err)
	}
	if out == nil { // JSON's null
		out = map[string]T{}
	}
	return out, nil
}

// Audit adds an entry to the transaction. The entry gets its place in the chain at the end, when everything else has
// succeeded. So a chain is locked only briefly, and transactions with entries of several teams lock the chains in the
// same order.
func (t *Tx) Audit(e AuditEntry) { t.audit = append(t.audit, e) }

// chainAudit writes the entries of the transaction.
func (t *Tx) chainAudit() error {
	byTeam := map[string][]AuditEntry{}
	for _, e := range t.audit {
		byTeam[e.TeamID] = append(byTeam[e.TeamID], e)
	}
	for _, team := range slices.Sorted(maps.Keys(byTeam)) {
		chain, err := t.lockChain(team)
		if err != nil {
			return fmt.Errorf("models: lock the audit chain of %q: %w", team, err)
		}
		for _, e := range byTeam[team] {
			if err := chain.take(&e); err != nil {
				return err
			}
			if err := t.db.Create(&e).Error; err != nil {
				return fmt.Errorf("models: write an audit entry: %w", err)
			}
		}
		if err := t.moveChain(chain); err != nil {
			return fmt.Errorf("models: advance the audit chain of %q: %w", team, err)
		}
	}
	return nil
}

// take gives the entry the next place.
func (c *AuditChain) take(e *AuditEntry) error {
	c.Number++
	e.Number = c.Number
	hash, err := e.ChainHash(c.Hash)
	if err != nil {
		return err
	}
	e.Hash, c.Hash = hash, hash
	return nil
}

// lockChain keeps other transactions from the chain until this one ends.
func (t *Tx) lockChain(team string) (AuditChain, error) {
	chain := AuditChain{TeamID: team}
	if err := t.takeTurn(team); err != nil {
		return chain, err
	}
	if err := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&chain).Error; err != nil {
		return chain, err
	}
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	}
	return chain, q.Where("team_id = ?", team).Take(&chain).Error
}

func (t *Tx) moveChain(c AuditChain) error {
	return t.db.Model(&AuditChain{}).Where("team_id = ?", c.TeamID).UpdateColumns(map[string]any{
		"number": c.Number,
		"hash":   c.Hash,
	}).Error
}

// AuditEntryByID finds an entry.
func (t *Tx) AuditEntryByID(id string) (AuditEntry, error) {
	var e AuditEntry
	return e, t.db.Where("id = ?", id).Take(&e).Error
}

// AuditChains lists the ends of all chains.
func (t *Tx) AuditChains() ([]AuditChain, error) {
	var list []AuditChain
	return list, t.db.Order("team_id").Find(&list).Error
}

// AuditChainOf returns the end of a team's chain, which is zero before the first entry.
func (t *Tx) AuditChainOf(teamID string) (AuditChain, error) {
	var list []AuditChain
	err := t.db.Where("team_id = ?", teamID).Limit(1).Find(&list).Error
	if len(list) == 0 {
		return AuditChain{TeamID: teamID}, err
	}
	return list[0], err
}

// AuditTeams lists the teams that have entries, including "" for entries without a team.
func (t *Tx) AuditTeams() ([]string, error) {
	var ids []string
	return ids, t.db.Model(&AuditEntry{}).Distinct("team_id").Order("team_id").Pluck("team_id", &ids).Error
}

// ChainHashLength is the number of characters in a ChainHash.
const ChainHashLength = 2 * sha256.Size
