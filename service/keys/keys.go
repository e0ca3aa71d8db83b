// Package keys manages API keys: creation, lists, rotation, freezing, revocation, and the in-memory table of all keys,
// in which the gateway looks up the keys of calls.
//
// It owns the life cycle of keys. It leaves the format and the rights of a key to package policy, and projects to
// package projects. Only the SHA-256 of a key is stored; its plaintext is returned once, by Create and Rotate.
package keys

import (
	"context"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// DefaultGrace is how long the old secret stays valid after a rotation by default. MaxGrace is the longest grace period
// that can be requested.
const (
	DefaultGrace = 24 * time.Hour
	MaxGrace     = 30 * 24 * time.Hour
)

// The key types that every project has.
const (
	TypeFull     = "full"
	TypeReadOnly = "read-only"
)

// Service manages API keys. Changed is called after each commit and returns when the
// change is in effect in this process.
type Service struct {
	DB      *models.DB
	Prefix  string
	Changed func(context.Context)
	Events  Events // nil for none

	Calls    func() uint64         // served by this process; imports slow down for them; nil: no calls are served
	MayCheck func(who string) bool // counts a check of a key against MaxChecks

	project string // set by InProject
}

// InProject returns the service for the keys that were created in one project, named by
// name or id: Get, Update, Freeze, Unfreeze, Revoke and Rotate find no others.
func (s *Service) InProject(ref string) *Service {
	scoped := *s
	scoped.project = ref
	return &scoped
}

// Events sends events about a team's keys to its webhooks, in the caller's transaction.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
}

// Create creates a key in a project and returns it with its secret, which can't be retrieved again.
func (s *Service) Create(
	ctx context.Context, p access.Principal, in contract.KeyCreation,
) (contract.KeyWithSecret, error) {
	var out contract.KeyWithSecret
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		parent, err := access.Project(tx, p, in.Project, access.KeyCreate)
		if err != nil {
			return err
		}
		if err := access.CheckQuota(tx, parent.TeamID, models.QuotaKeys); err != nil {
			return err
		}
		row, plaintext, err := s.newRow(tx, parent, in.Body)
		if err != nil {
			return err
		}
		out.Secret = contract.Secret(plaintext)
		if out.Key, err = view(tx, parent, row); err != nil {
			return err
		}
		return s.save(ctx, tx, p, parent, &row)
	})
	if err != nil {
		return contract.KeyWithSecret{}, fmt.Errorf("keys: create in %s: %w", in.Project, err)
	}
	s.Changed(ctx)
	return out, nil
}

// save inserts a new row with its audit entry and revision.
func (s *Service) save(
	ctx context.Context, tx *models.Tx, p access.Principal, parent models.Project, row *models.APIKey,
) error {
	owner, err := lockOwner(tx, *row)
	if err != nil {
		return err
	}
	if err := tx.Insert(row); err != nil {
		return err
	}
	if err := stillThere(tx, parent, row.Environment); err != nil {
		return err
	}
	entry := access.Entry{
		Action:  access.KeyCreate,
		Object:  row.ID,
		Project: parent.ID,
		Team:    parent.TeamID,
		Detail:  detailOf(*row),
		After:   *row,
	}
	if err := access.Record(tx, p, entry); err != nil {
		return err
	}
	if err := Emit(ctx, s.Events, tx, parent, *row, "key.created"); err != nil {
		return err
	}
	return reviseFor(tx, row, owner)
}

// Emit emits an event about a key to the project's team.
func Emit(
	ctx context.Context, events Events, tx *models.Tx, parent models.Project, row models.APIKey, event string,
) error {
	if events == nil {
		return nil
	}
	return events.Emit(ctx, tx, parent.TeamID, event, map[string]any{
		"key":          row.ID,
		"project":      parent.ID,
		"project_name": parent.Name,
		"owner":        row.Owner,
		"environment":  row.Environment,
		"metadata":     row.Metadata,
	})
}

// detailOf is how an audit entry names a key to people.
func detailOf(row models.APIKey) map[string]string {
	return map[string]string{"key": row.Prefix + "…" + row.Last4, "owner": row.Owner}
}

// newRow checks the input against the project and mints the secret.
func (s *Service) newRow(tx *models.Tx, parent models.Project, in contract.NewKey) (models.APIKey, string, error) {
	now := models.Now()
	at, wrong, err := place(tx, parent, in)
	if err != nil {
		return models.APIKey{}, "", err
	}
	ranges, rangesWrong := ReadRanges("/allowed_cidrs", in.AllowedCIDRs, MaxRanges)
	wrong = append(append(check(in, now), wrong...), append(CheckLimits("/limits", in.Limits), rangesWrong...)...)
	if err := fault.InvalidFields(wrong); err != nil {
		return models.APIKey{}, "", err
	}
	row, plaintext, err := Mint(s.Prefix, parent, at.tenant.ID, at.keyType, in, now)
	if err != nil {
		return models.APIKey{}, "", err
	}
	row.ProductID, row.AllowedCIDRs = at.productID, ranges
	if in.Limits != nil {
		row.Limits = &in.Limits
	}
	return row, plaintext, nil
}

// setSecret gives the row a new secret and returns its plaintext.
func setSecret(row *models.APIKey, prefix string) (string, error) {
	environment := row.Environment
	if environment == "" {
		environment = policy.AllEnvironments
	}
	plaintext, err := policy.NewKey(prefix, environment)
	if err != nil {
		return "", fmt.Errorf("mint a key: %w", err)
	}
	sum := policy.HashKey(plaintext)
	row.Hash = sum[:]
	row.Prefix, row.Last4 = policy.DisplayPrefix(plaintext), policy.Last4(plaintext)
	return plaintext, nil
}
