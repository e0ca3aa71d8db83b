package directory

import (
	"context"
	"time"

	"postern/models"
	"postern/service/access"
)

// place is a tenant with the id of the team that it belongs to.
type place struct {
	models.Tenant
	team string
}

// outcome describes a change that was made.
type outcome struct {
	object        string // id
	name          string // what people call it, for the audit log
	before, after any    // what the audit entry compares; nil if it did not exist
	// revise adds the revisions by which gateways load the change; nil if gateways do not
	// use what was changed.
	revise func(tx *models.Tx, tenant models.Tenant, at time.Time) error
	events []event // for the team's webhooks
}

// change changes a tenant's users, groups or sign-up policy, in one transaction with its audit entry, events and
// revisions. find returns the tenant and checks the principal's permission. The tenant is locked before fn runs, so
// changes of a tenant come one after another. When change returns, this process's gateway has the change in effect.
func (s *Service) change(
	ctx context.Context, p access.Principal,
	find func(*models.Tx) (place, error), fn func(*models.Tx, place) (outcome, error),
) error {
	revised := false
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		at, err := find(tx)
		if err != nil {
			return err
		}
		if _, err := tx.LockTenant(at.ID); err != nil {
			return absent(err)
		}
		done, err := fn(tx, at)
		if err != nil {
			return err
		}
		if err := record(tx, p, at, done); err != nil {
			return err
		}
		if err := emit(ctx, s.Events, tx, at, done.events...); err != nil {
			return err
		}
		if revised = done.revise != nil; !revised {
			return nil
		}
		return done.revise(tx, at.Tenant, models.Now())
	})
	if err == nil && revised {
		s.Changed(ctx)
	}
	return err
}

// record writes the audit entry of a change.
func record(tx *models.Tx, p access.Principal, at place, done outcome) error {
	entry := access.Entry{
		Action: access.UserUpdate,
		Object: done.object,
		Name:   done.name,
		Team:   at.team,
		Detail: map[string]string{"tenant": at.ID},
		Before: done.before,
		After:  done.after,
	}
	if at.ProjectID != nil {
		entry.Project = *at.ProjectID
	}
	return access.Record(tx, p, entry)
}

// inTenant returns a find function for change: the tenant of an id or name.
func inTenant(p access.Principal, ref string) func(*models.Tx) (place, error) {
	return func(tx *models.Tx) (place, error) { return findTenant(tx, p, ref, access.UserUpdate) }
}

// ofUser returns a find function for change: the tenant of an end user.
func ofUser(p access.Principal, id string) func(*models.Tx) (place, error) {
	return func(tx *models.Tx) (place, error) {
		_, at, err := findUser(tx, p, id, access.UserUpdate)
		return at, err
	}
}

// ofGroup returns a find function for change: the tenant of a group.
func ofGroup(p access.Principal, id string) func(*models.Tx) (place, error) {
	return func(tx *models.Tx) (place, error) {
		_, at, err := findGroup(tx, p, id, access.UserUpdate)
		return at, err
	}
}

// findTenant finds a tenant by its id, or a team's by its name, and checks that the
// principal may do action with its users.
func findTenant(tx *models.Tx, p access.Principal, ref string, action access.Action) (place, error) {
	row, team, err := access.Tenant(tx, p, ref, action)
	return place{row, team}, err
}
