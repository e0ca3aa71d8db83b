// Package directory knows the people of tenants: end users, how providers know
// them, and the groups they are in.
//
// It owns who may come into a tenant and as whom; it does not own how somebody
// proves who they are (login) nor what the gateway lets them do (policy). People
// are linked by (issuer, subject), never by an address alone (security.md, 3).
package directory

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
)

// The states of an end user.
const (
	Active  = "active"
	Frozen  = "frozen"
	Invited = "invited" // expected, and never here so far
)

// The kinds of pre-approval.
const (
	ByEmail  = "email"
	ByDomain = "domain"
)

// Arrival is somebody whom a provider has vouched for.
type Arrival struct {
	Tenant        string // id
	Provider      string // id
	Issuer        string // unique for the provider's kind and installation
	Subject       string
	Email         string // lower case, "" where the provider tells none
	EmailVerified bool
	Name          string
}

var (
	errFrozen = fault.New(fault.Forbidden, "user_frozen", "Your account is frozen. Ask whoever runs this "+
		"application to unfreeze it.")
	errNoSeat = fault.New(fault.Forbidden, "not_invited",
		"This application is open to invited people only. Ask whoever runs it to invite you, then sign in again "+
			"with a provider that confirms your e-mail address.")
)

// Known finds the end user who arrives, false for somebody new. A frozen one is
// refused.
func Known(tx *models.Tx, a Arrival) (models.EndUser, bool, error) {
	user, err := tx.EndUserByIdentity(a.Tenant, a.Issuer, a.Subject)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return models.EndUser{}, false, nil
	case err != nil:
		return user, false, fmt.Errorf("directory: find who arrives in %s: %w", a.Tenant, err)
	case user.State == Frozen:
		return user, true, errFrozen
	}
	return user, true, nil
}

// MayJoin refuses somebody new whom an invite-only tenant does not expect.
func MayJoin(tx *models.Tx, a Arrival) error {
	_, _, err := seat(tx, a)
	return err
}

// Arrive is the end user who arrives, with their address and name as the provider
// tells them now. Somebody new is made, or is the one who was invited under their
// verified address; of two first arrivals at a time, the second is asked to try again.
func Arrive(tx *models.Tx, a Arrival, now time.Time) (user models.EndUser, created bool, err error) {
	user, known, err := Known(tx, a)
	if err != nil {
		return user, false, err
	}
	if !known {
		if user, created, err = join(tx, a, now); err != nil {
			return user, created, err
		}
	}
	if user, err = held(tx, user.ID); err != nil {
		return user, created, err
	}
	if a.Email != "" {
		user.Email, user.EmailVerified = a.Email, a.EmailVerified
	}
	if a.Name != "" {
		user.Name = a.Name
	}
	user.State, user.LastLoginAt, user.UpdatedAt = Active, &now, now
	return user, created, tx.UpdateEndUser(user)
}

// held keeps somebody from being frozen or deleted until the arrival is written:
// it would make them active again.
func held(tx *models.Tx, id string) (models.EndUser, error) {
	user, err := tx.LockEndUser(id)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return user, fault.New(
			fault.Conflict, "changed_meanwhile", "Your account was changed while you signed in. Try again.",
		)
	case err == nil && user.State == Frozen:
		return user, errFrozen
	}
	return user, err
}

// join makes somebody new an end user.
func join(tx *models.Tx, a Arrival, now time.Time) (models.EndUser, bool, error) {
	invited, groups, err := seat(tx, a)
	if err != nil {
		return models.EndUser{}, false, err
	}
	user := models.EndUser{ID: models.NewID("usr"), TenantID: a.Tenant, State: Active, CreatedAt: now, UpdatedAt: now}
	if invited != nil {
		user = *invited
	} else if err := tx.Insert(&user); err != nil {
		return user, false, err
	}
	won, err := tx.AddIdentity(models.Identity{
		TenantID:   a.Tenant,
		Issuer:     a.Issuer,
		Subject:    a.Subject,
		UserID:     user.ID,
		ProviderID: a.Provider,
		CreatedAt:  now,
	})
	if err != nil {
		return user, false, err
	}
	if !won {
		return user, false, fault.New(
			fault.Conflict, "changed_meanwhile", "You are signing in twice at the same time. Try again.",
		)
	}
	var members []models.GroupMember
	for _, group := range groups {
		members = append(members, models.GroupMember{GroupID: group, UserID: user.ID, Role: "member", CreatedAt: now})
	}
	return user, true, tx.AddGroupMembers(members)
}

// seat is the place that is kept for somebody new: the end user who was invited
// under their address, nil for none, and the groups of their pre-approvals. An
// address that the provider does not vouch for fills no seat.
func seat(tx *models.Tx, a Arrival) (*models.EndUser, []string, error) {
	rules, err := tx.TenantLoginOf(a.Tenant)
	if err != nil {
		return nil, nil, err
	}
	if a.Email == "" || !a.EmailVerified {
		if rules.InviteOnly {
			return nil, nil, errNoSeat
		}
		return nil, nil, nil
	}
	invited, err := tx.ExpectedByEmail(a.Tenant, a.Email)
	expected := err == nil
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return nil, nil, err
	}
	if expected && invited.State == Frozen {
		return nil, nil, errFrozen
	}
	domain := a.Email[strings.LastIndexByte(a.Email, '@')+1:] // what is before may hold another in quotes
	approvals, err := tx.PreApprovalsFor(a.Tenant, a.Email, domain)
	if err != nil {
		return nil, nil, err
	}
	if rules.InviteOnly && !expected && len(approvals) == 0 {
		return nil, nil, errNoSeat
	}
	var named []string
	for _, approval := range approvals {
		named = append(named, approval.Groups...)
	}
	groups, err := tx.GroupsWithin(a.Tenant, named)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, 0, len(groups))
	for _, group := range groups {
		ids = append(ids, group.ID)
	}
	if !expected {
		return nil, ids, nil
	}
	return &invited, ids, nil
}

// GroupsOf names the groups of an end user, sorted, with those that the groups are
// nested in.
func GroupsOf(tx *models.Tx, userID string) ([]string, error) {
	groups, err := tx.GroupsOfUser(userID)
	if err != nil {
		return nil, fmt.Errorf("directory: groups of %s: %w", userID, err)
	}
	names := make([]string, 0, len(groups))
	for _, group := range groups {
		names = append(names, group.Name)
	}
	return names, nil
}
