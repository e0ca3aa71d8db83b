// Package directory manages the users of tenants, their identities at providers and
// their groups.
//
// It owns who may join a tenant and as which user. It does not own authentication
// (login) nor what the gateway allows users (policy). A user is linked to an
// identity by (issuer, subject), never by an e-mail address alone.
package directory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// The states of an end user.
const (
	Active  = "active"
	Frozen  = "frozen"
	Invited = "invited" // created, and not signed in so far
)

// The kinds of pre-approval.
const (
	ByEmail  = "email"
	ByDomain = "domain"
)

// ExternalIdentity is a user as an identity provider has authenticated them.
type ExternalIdentity struct {
	Tenant        string // id
	Provider      string // id
	Issuer        string // unique for the provider's kind and installation
	Subject       string
	Email         string // lower case, "" if the provider sends none
	EmailVerified bool
	Domain        string // of Email, if the provider is authoritative for it; "" otherwise
	Name          string
	Profile       string // JSON of a federation.Profile, "" if the provider states none
}

var (
	errFrozen = fault.New(fault.Forbidden, "user_frozen", "Your account is frozen. Ask the operator of "+
		"this application to unfreeze it.")
	errNotInvited = fault.New(fault.Forbidden, "not_invited",
		"This application is open to invited users only. Ask its operator to invite you, then sign in again "+
			"with a provider that confirms your e-mail address.")
)

// FindByIdentity returns the end user who is linked to an identity, and false if there
// is none. A frozen user is Forbidden user_frozen.
func FindByIdentity(tx *models.Tx, in ExternalIdentity) (models.EndUser, bool, error) {
	return foundByIdentity(in, tx.EndUserByIdentity)
}

// ServedByIdentity is FindByIdentity for gateways: of the user it returns only what
// models.Tx.UserServed does.
func ServedByIdentity(tx *models.Tx, in ExternalIdentity) (models.EndUser, bool, error) {
	return foundByIdentity(in, tx.UserServed)
}

func foundByIdentity(
	in ExternalIdentity, find func(tenant, issuer, subject string) (models.EndUser, error),
) (models.EndUser, bool, error) {
	user, err := find(in.Tenant, in.Issuer, in.Subject)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return models.EndUser{}, false, nil
	case err != nil:
		return user, false, fmt.Errorf("directory: find the user of an identity in %s: %w", in.Tenant, err)
	case user.State == Frozen:
		return user, true, errFrozen
	}
	return user, true, nil
}

// MayJoin returns Forbidden not_invited if the tenant is invite-only and has neither
// invited nor approved a new user.
func MayJoin(tx *models.Tx, in ExternalIdentity) error {
	_, _, err := invitation(tx, in)
	return err
}

// Provision returns the end user of an identity and updates their e-mail address and
// name to the provider's. A new user is created, or replaces the one that was invited
// under their verified address. Of two concurrent first sign-ins, the second fails
// with changed_meanwhile.
func Provision(tx *models.Tx, in ExternalIdentity, now time.Time) (user models.EndUser, created bool, err error) {
	user, known, err := FindByIdentity(tx, in)
	if err != nil {
		return user, false, err
	}
	if !known {
		if user, created, err = join(tx, in, now); err != nil {
			return user, created, err
		}
	}
	if user, err = lockProvisioned(tx, user.ID); err != nil {
		return user, created, err
	}
	if in.Email != "" {
		user.Email, user.EmailVerified = in.Email, in.EmailVerified
	}
	if in.Name != "" {
		user.Name = in.Name
	}
	if in.Profile != "" {
		user.Profile = in.Profile
	}
	user.State, user.LastLoginAt, user.UpdatedAt = Active, &now, now
	return user, created, tx.UpdateEndUser(user)
}

// lockProvisioned locks the user until the sign-in is written. Without the lock, the
// sign-in would activate a user who is being frozen or deleted.
func lockProvisioned(tx *models.Tx, id string) (models.EndUser, error) {
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

// join creates the end user of a first sign-in.
func join(tx *models.Tx, in ExternalIdentity, now time.Time) (models.EndUser, bool, error) {
	invited, groups, err := invitation(tx, in)
	if err != nil {
		return models.EndUser{}, false, err
	}
	user := models.EndUser{ID: models.NewID("usr"), TenantID: in.Tenant, State: Active, CreatedAt: now, UpdatedAt: now}
	if invited != nil {
		user = *invited
	} else if err := insertFirst(tx, user); err != nil {
		return user, false, err
	}
	won, err := tx.AddIdentity(models.Identity{
		TenantID:   in.Tenant,
		Issuer:     in.Issuer,
		Subject:    in.Subject,
		UserID:     user.ID,
		ProviderID: in.Provider,
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

// insertFirst inserts the user of a first sign-in, unless the workspace is full.
func insertFirst(tx *models.Tx, user models.EndUser) error {
	tenant, err := tx.TenantByID(user.TenantID)
	if err != nil {
		return err
	}
	team, err := access.TeamOf(tx, tenant)
	if err != nil {
		return err
	}
	if err := access.CheckQuota(tx, team, models.QuotaUsers); err != nil {
		return err
	}
	return tx.Insert(&user)
}

// invitation returns the end user who was invited under the verified address of an
// identity, nil for none, and the groups of its pre-approvals. An address that the
// provider has not verified matches neither, and an approval by domain matches only where
// the provider is authoritative for the domain.
func invitation(tx *models.Tx, in ExternalIdentity) (*models.EndUser, []string, error) {
	rules, err := tx.TenantLoginOf(in.Tenant)
	if err != nil {
		return nil, nil, err
	}
	if in.Email == "" || !in.EmailVerified {
		if rules.InviteOnly {
			return nil, nil, errNotInvited
		}
		return nil, nil, nil
	}
	invited, err := tx.ExpectedByEmail(in.Tenant, in.Email)
	expected := err == nil
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return nil, nil, err
	}
	if expected && invited.State == Frozen {
		return nil, nil, errFrozen
	}
	domain := in.Email[strings.LastIndexByte(in.Email, '@')+1:] // the local part may contain a quoted @
	approvals, err := tx.PreApprovalsFor(in.Tenant, in.Email, domain)
	if err != nil {
		return nil, nil, err
	}
	counting := slices.DeleteFunc(slices.Clone(approvals), func(one models.PreApproval) bool {
		return one.Kind == ByDomain && in.Domain != domain
	})
	if rules.InviteOnly && !expected && len(counting) == 0 {
		if len(approvals) > 0 {
			return nil, nil, errNotInvited.Because(
				fmt.Errorf("an approval by domain does not count: the provider is not authoritative for %s", domain),
			)
		}
		return nil, nil, errNotInvited
	}
	var named []string
	for _, approval := range counting {
		named = append(named, approval.Groups...)
	}
	groups, err := tx.GroupsWithin(in.Tenant, named)
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

// GroupsOf returns the names of the groups of an end user, sorted, with those that
// the groups are nested in.
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

// AdminOf returns the names of the groups that an end user is in with RoleAdmin, sorted. The role
// holds in that group alone, and not in those that it is nested in.
func AdminOf(tx *models.Tx, userID string) ([]string, error) {
	names, err := tx.GroupsWithRole(userID, RoleAdmin)
	if err != nil {
		return nil, fmt.Errorf("directory: groups that %s is an admin of: %w", userID, err)
	}
	return names, nil
}
