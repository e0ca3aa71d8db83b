// Package directory manages the users of tenants, their identities at providers and
// their groups.
//
// It owns who may join a tenant and as which user. It does not own authentication
// (login) nor what the gateway allows users (policy). A user is linked to an
// identity by (issuer, subject), never by an email address alone.
package directory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
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

// ExternalIdentity is a user as an identity provider has authenticated them.
type ExternalIdentity struct {
	Tenant        string // id
	Provider      string // id
	Issuer        string // unique for the provider's kind and installation
	Subject       string
	Email         string // lowercase, "" if the provider sends none
	EmailVerified bool
	Domain        string // of Email, if the provider is authoritative for it; "" otherwise
	Name          string
	Profile       string // JSON of a federation.Profile, "" if the provider states none

	// DirectoryID is the user's id in the provider's directory, where SCIM sends the same id as externalId; "" for
	// none.
	DirectoryID string `json:",omitempty"`

	// Invitation is the SHA-256 of the code of the invitation link that the sign-in began with, nil for none.
	Invitation models.Digest `json:",omitempty"`
}

var (
	errFrozen = fault.New(fault.Forbidden, "user_frozen", "Your account is frozen. Ask the application's support "+
		"team to unfreeze it.")
	errNotInvited = fault.New(fault.Forbidden, "not_invited",
		"Only invited users can sign in to this application. Ask the application's support team for an invitation.")
	errSharedAddress = fault.New(fault.Forbidden, "invitation_required",
		"Several users with your email address were invited or provisioned here, so your address alone doesn't "+
			"identify you. Open your invitation link, or ask the application's support team for one.").
		Worded("invitation_ambiguous")
	errNeedsInvitation = fault.New(fault.Forbidden, "invitation_required",
		"A user with your email address was invited or provisioned here, and this provider doesn't prove that you "+
			"are that user. Open your invitation link, or ask the application's support team for one.")
)

// Faults that sign-ins share with hosted login's own.
var (
	// ErrInvitationOver is of an invitation link that can't be used.
	ErrInvitationOver = fault.New(fault.Gone, "invitation_over", "This invitation link has expired, or has "+
		"already been used or replaced. Ask the application's support team for a new link.")
	// ErrIdentityTaken is of an identity that is linked to another user.
	ErrIdentityTaken = fault.New(fault.Conflict, "identity_taken", "This sign-in is already linked to another "+
		"account here. To use it for your account, sign in to the other account and delete that account first.")
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

// MayJoin returns the error of Provision for an identity that is linked to no user: Forbidden not_invited,
// invitation_required or user_frozen.
func MayJoin(tx *models.Tx, in ExternalIdentity) error {
	_, _, err := admission(tx, in, models.Now())
	return err
}

// Provision returns the end user of an identity and updates their email address and
// name to the provider's. A new user is created, or the identity takes the seat that seatOf
// finds. An identity without a user locks the tenant, so that one of several first sign-ins
// takes a seat: a caller that locks other rows before has locked the tenant too.
func Provision(tx *models.Tx, in ExternalIdentity, now time.Time) (user models.EndUser, created bool, err error) {
	user, known, err := FindByIdentity(tx, in)
	if err == nil && !known {
		if _, err = tx.LockTenant(in.Tenant); err == nil {
			user, known, err = FindByIdentity(tx, in) // another sign-in may have had the lock
		}
	}
	if err != nil {
		return user, false, err
	}
	if known {
		err = checkKnown(tx, in, user, now)
	} else {
		user, created, err = join(tx, in, now)
	}
	if err != nil {
		return user, created, err
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
		user.Profile = in.profileOf(user)
	}
	user.State, user.LastLoginAt, user.UpdatedAt = Active, &now, now
	return user, created, tx.UpdateEndUser(user)
}

// checkKnown refuses the invitation of another user to an identity that has a user. It also refuses a user
// who is frozen in the directory under another id. It stores the directory's id.
func checkKnown(tx *models.Tx, in ExternalIdentity, user models.EndUser, now time.Time) error {
	if in.Invitation != nil {
		seat, err := seatOf(tx, in, now)
		if err == nil && seat.ID != user.ID {
			err = ErrIdentityTaken
		}
		return err
	}
	if in.DirectoryID == "" {
		return nil
	}
	provisioned, err := tx.EndUsersByExternalID(in.Tenant, in.DirectoryID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(provisioned, func(one models.EndUser) bool { return one.State == Frozen }) {
		return errFrozen
	}
	return tx.SetDirectoryID(in.Tenant, in.Issuer, in.Subject, in.DirectoryID)
}

// lockProvisioned locks the user until the sign-in is written. Without the lock, the
// sign-in would activate a user who is being frozen or deleted.
func lockProvisioned(tx *models.Tx, id string) (models.EndUser, error) {
	user, err := tx.LockEndUser(id)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return user, fault.New(
			fault.Conflict, "changed_concurrently", "Your account was changed while you were signing in. Try again.",
		)
	case err == nil && user.State == Frozen:
		return user, errFrozen
	}
	return user, err
}

// join creates the end user of a first sign-in.
func join(tx *models.Tx, in ExternalIdentity, now time.Time) (models.EndUser, bool, error) {
	seat, groups, err := admission(tx, in, now)
	if err != nil {
		return models.EndUser{}, false, err
	}
	user := models.EndUser{ID: models.NewID("usr"), TenantID: in.Tenant, State: Active, CreatedAt: now, UpdatedAt: now}
	if seat != nil {
		user = *seat
		err = tx.SetInvitation(user.ID, nil, nil) // which no one else may use
	} else {
		err = insertFirst(tx, user)
	}
	if err != nil {
		return user, false, err
	}
	added, err := tx.AddIdentity(models.Identity{
		TenantID:    in.Tenant,
		Issuer:      in.Issuer,
		Subject:     in.Subject,
		UserID:      user.ID,
		ProviderID:  in.Provider,
		DirectoryID: in.DirectoryID,
		CreatedAt:   now,
	})
	if err != nil {
		return user, false, err
	}
	if !added {
		return user, false, fault.New(
			fault.Conflict, "changed_concurrently", "You signed in twice at the same time. Try again.",
		).Worded("signed_in_twice")
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

// admission returns the seat that a first sign-in takes, nil for a new user, and the groups of the approvals of
// its address. An address that the provider has not verified matches none of these, and an approval by domain
// matches only where the provider is authoritative for the domain.
func admission(tx *models.Tx, in ExternalIdentity, now time.Time) (*models.EndUser, []string, error) {
	seat, err := seatOf(tx, in, now)
	if err != nil {
		return nil, nil, err
	}
	rules, err := tx.SignupPolicyOf(in.Tenant)
	if err != nil {
		return nil, nil, err
	}
	var approvals []models.Approval
	if in.Email != "" && in.EmailVerified {
		if approvals, err = tx.ApprovalsFor(in.Tenant, in.Email, domainOf(in.Email)); err != nil {
			return nil, nil, err
		}
	}
	counting := slices.DeleteFunc(slices.Clone(approvals), func(one models.Approval) bool {
		return one.Kind == contract.ByDomain && in.Domain != domainOf(in.Email)
	})
	if rules.InviteOnly && seat == nil && len(counting) == 0 {
		if len(approvals) > 0 {
			return nil, nil, errNotInvited.Because(fmt.Errorf(
				"a domain approval doesn't apply, because the provider isn't authoritative for %s",
				domainOf(in.Email),
			))
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
	return seat, ids, nil
}

// seatOf returns the invited or provisioned user that an identity becomes at its first sign-in, nil for none. There
// are three ways: the invitation link, the id that the provider's directory shares with SCIM, and an address whose
// domain the provider is authoritative for. Anyone else with the address of a seat gets invitation_required: an
// address that some provider has verified says only that its user could read a mail once.
func seatOf(tx *models.Tx, in ExternalIdentity, now time.Time) (*models.EndUser, error) {
	if in.Invitation != nil {
		seat, err := tx.EndUserByInvitation(in.Tenant, in.Invitation, now)
		if errors.Is(err, models.ErrNotFound) {
			return nil, ErrInvitationOver
		}
		return notFrozen(seat, err)
	}
	if in.DirectoryID != "" {
		switch shared, err := tx.EndUsersByExternalID(in.Tenant, in.DirectoryID); {
		case err != nil:
			return nil, err
		case len(shared) == 1:
			return notFrozen(shared[0], nil)
		case len(shared) > 1:
			return nil, errNeedsInvitation.Because(fmt.Errorf("several users have the external ID of the sign-in"))
		}
	}
	if in.Email == "" {
		return nil, nil
	}
	expected, err := tx.ExpectedByEmail(in.Tenant, in.Email)
	if err != nil || len(expected) == 0 {
		return nil, err
	}
	isShared := len(expected) > 1
	if !isShared {
		isShared, err = tx.IsAddressShared(expected[0])
	}
	switch {
	case err != nil:
		return nil, err
	case isShared:
		return nil, errSharedAddress
	case !in.EmailVerified || in.Domain != domainOf(in.Email):
		return nil, errNeedsInvitation.Because(
			fmt.Errorf("the provider isn't authoritative for %s", domainOf(in.Email)),
		)
	}
	return notFrozen(expected[0], nil)
}

func notFrozen(seat models.EndUser, err error) (*models.EndUser, error) {
	if err == nil && seat.State == Frozen {
		err = errFrozen
	}
	return &seat, err
}

// domainOf returns the domain of an email address, whose local part may contain a quoted @.
func domainOf(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }

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
