package directory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/access"
)

// User is an end user as their team sees them.
type User struct {
	ID            string
	Tenant        string `audit:"-"` // id
	Email         string
	EmailVerified bool
	Name          string
	Profile       federation.Profile `audit:"-"` // as a provider stated it at the last sign-in
	UserName      string             // name in the provisioning system, "" for none
	ExternalID    string             // id in the provisioning system
	State         string             // active, frozen or invited
	LastLoginAt   *time.Time
	ETag          string    `audit:"-"`
	CreatedAt     time.Time `audit:"-"`
	UpdatedAt     time.Time `audit:"-"`
}

// Profile is an end user with their identities and groups.
type Profile struct {
	User
	Identities []Identity
	Groups     []Membership // by name
}

// Identity is the account of an end user at an identity provider.
type Identity struct {
	Issuer, Subject string
	Since           time.Time
}

// Membership is a group that an end user is in.
type Membership struct {
	Group, Name, DisplayName string // id, name, text
	Role                     string // member or admin; "" where they are in it through a nested group alone
}

// NewUser is the input of CreateUser. Groups are ids.
type NewUser struct {
	Email, Name, UserName, ExternalID string
	GivenName, FamilyName             string // parts of the name, "" if not known
	Groups                            []string
	Frozen                            bool
}

// UserChange is what UpdateUser can change; nil leaves a field as it is.
type UserChange struct {
	Email, Name, UserName, ExternalID *string
	GivenName, FamilyName             *string
	Frozen                            *bool
}

// Users lists a tenant's end users, newest first.
func (s *Service) Users(
	ctx context.Context, p access.Principal, tenant string, filter models.UserFilter, page models.Page,
) (models.List[User], error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, tenant, access.UserRead)
	if err != nil {
		return models.List[User]{}, fmt.Errorf("directory: users of %s: %w", tenant, err)
	}
	if filter.State != "" && filter.State != Active && filter.State != Frozen && filter.State != Invited {
		return models.List[User]{}, fault.InvalidField("/state", "invalid_state", "Use active, frozen or invited.")
	}
	filter.Email, filter.UserName = ascii.Lower(filter.Email), ascii.Lower(filter.UserName)
	rows, err := tx.EndUsersOf(at.ID, filter, page)
	if err != nil {
		return models.List[User]{}, fmt.Errorf("directory: users of %s: %w", tenant, err)
	}
	return models.MapList(rows, viewUser), nil
}

// UsersFrom counts a tenant's end users and lists at most limit of them, oldest
// first, without the first skip. It is how SCIM pages (RFC 7644, 3.4.2.4).
func (s *Service) UsersFrom(
	ctx context.Context, p access.Principal, tenant string, filter models.UserFilter, skip, limit int,
) ([]User, int64, error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, tenant, access.UserRead)
	if err != nil {
		return nil, 0, fmt.Errorf("directory: users of %s: %w", tenant, err)
	}
	filter.Email, filter.UserName = ascii.Lower(filter.Email), ascii.Lower(filter.UserName)
	rows, total, err := tx.EndUsersFrom(at.ID, filter, skip, min(limit, models.MaxLimit))
	if err != nil {
		return nil, 0, fmt.Errorf("directory: users of %s: %w", tenant, err)
	}
	return viewUsers(rows), total, nil
}

// User finds an end user.
func (s *Service) User(ctx context.Context, p access.Principal, id string) (Profile, error) {
	tx := s.DB.Read(ctx)
	row, _, err := findUser(tx, p, id, access.UserRead)
	if err != nil {
		return Profile{}, fmt.Errorf("directory: user %s: %w", id, err)
	}
	out, err := profile(tx, row)
	if err != nil {
		return out, fmt.Errorf("directory: user %s: %w", id, err)
	}
	return out, nil
}

// CreateUser invites or provisions a user, whom a sign-in takes as seatOf says. A user who has signed in already
// with an account that its directory has under the external id gets what is provisioned.
func (s *Service) CreateUser(ctx context.Context, p access.Principal, tenant string, in NewUser) (Profile, error) {
	var out Profile
	err := s.change(ctx, p, inTenant(p, tenant), func(tx *models.Tx, at place) (outcome, error) {
		signedIn, known, err := signedInAs(tx, at, in.ExternalID)
		if err != nil {
			return outcome{}, err
		}
		if known {
			var done outcome
			out, done, err = provisionKnown(tx, at, signedIn, in)
			return done, err
		}
		row, err := createUser(tx, at, in)
		if err != nil {
			return outcome{}, err
		}
		if out, err = profile(tx, row); err != nil {
			return outcome{}, err
		}
		joined, err := memberEvents(tx, row.ID, row.CreatedAt)
		return outcome{
			object: row.ID,
			after:  out.User,
			revise: (*models.Tx).AddTenantRevisions,
			events: append([]event{userEvent(EventUserCreated, row)}, joined...),
		}, err
	})
	if err != nil {
		return Profile{}, fmt.Errorf("directory: create a user of %s: %w", tenant, err)
	}
	return out, nil
}

// createUser inserts an invited user. The tenant is locked.
func createUser(tx *models.Tx, at place, in NewUser) (models.EndUser, error) {
	now := models.Now()
	row := models.EndUser{ID: models.NewID("usr"), TenantID: at.ID, State: Invited, CreatedAt: now, UpdatedAt: now}
	wrong := UserChange{
		Email:      &in.Email,
		Name:       &in.Name,
		UserName:   &in.UserName,
		ExternalID: &in.ExternalID,
		GivenName:  &in.GivenName,
		FamilyName: &in.FamilyName,
		Frozen:     &in.Frozen,
	}.apply(&row)
	unknown, err := checkGroups(tx, at.ID, in.Groups)
	if err != nil {
		return row, err
	}
	if err := fault.InvalidFields(append(wrong, unknown...)); err != nil {
		return row, err
	}
	if err := isDistinct(tx, at, row); err != nil {
		return row, err
	}
	if err := externalIDFree(tx, at, row); err != nil {
		return row, err
	}
	if err := access.CheckQuota(tx, at.team, models.QuotaUsers); err != nil {
		return row, err
	}
	return row, insertUser(tx, row, in.Groups, now)
}

func insertUser(tx *models.Tx, row models.EndUser, groups []string, now time.Time) error {
	if err := taken(tx.Insert(&row)); err != nil {
		return err
	}
	var members []models.GroupMember
	for _, group := range groups {
		members = append(members, models.GroupMember{GroupID: group, UserID: row.ID, Role: RoleMember, CreatedAt: now})
	}
	return tx.AddGroupMembers(members)
}

// taken turns models.ErrDuplicate into the fault of a user name in use.
func taken(err error) error {
	if errors.Is(err, models.ErrDuplicate) {
		return errUserNameTaken
	}
	return err
}

// UpdateUser changes an end user. With ifMatch not empty it is refused as stale
// unless that is still their ETag.
func (s *Service) UpdateUser(
	ctx context.Context, p access.Principal, id, ifMatch string, in UserChange,
) (Profile, error) {
	var out Profile
	err := s.change(ctx, p, ofUser(p, id), func(tx *models.Tx, at place) (outcome, error) {
		before, err := tx.LockEndUser(id)
		if err != nil {
			return outcome{}, absent(err)
		}
		if err := access.Unchanged(ifMatch, access.ETag(before.UpdatedAt)); err != nil {
			return outcome{}, err
		}
		var done outcome
		out, done, err = changeUser(tx, at, before, in)
		return done, err
	})
	if err != nil {
		return Profile{}, fmt.Errorf("directory: update the user %s: %w", id, err)
	}
	return out, nil
}

// changeUser changes an end user. They and the tenant are locked.
func changeUser(tx *models.Tx, at place, before models.EndUser, in UserChange) (Profile, outcome, error) {
	row := before
	if err := fault.InvalidFields(in.apply(&row)); err != nil {
		return Profile{}, outcome{}, err
	}
	if shownAs(before) != shownAs(row) {
		if err := isDistinct(tx, at, row); err != nil {
			return Profile{}, outcome{}, err
		}
	}
	if err := externalIDFree(tx, at, row); err != nil {
		return Profile{}, outcome{}, err
	}
	out, err := updateUser(tx, row)
	if err != nil {
		return Profile{}, outcome{}, err
	}
	done := outcome{object: row.ID, before: viewUser(before), after: out.User}
	if before.State != row.State {
		done.revise = (*models.Tx).AddPersonRevisions
		if row.State == Frozen {
			done.events = []event{userEvent(EventUserFrozen, row)}
		}
	}
	return out, done, nil
}

// updateUser writes a changed user, and ends the logins of one who is frozen.
func updateUser(tx *models.Tx, row models.EndUser) (Profile, error) {
	row.UpdatedAt = models.Now()
	if err := taken(tx.UpdateEndUser(row)); err != nil {
		return Profile{}, err
	}
	if row.State == Frozen {
		if _, err := tx.EndLoginsOf(
			row.ID, row.UpdatedAt, row.UpdatedAt.Add(-snapshot.BarredFor), row.UpdatedAt.Add(snapshot.BarredFor),
		); err != nil {
			return Profile{}, err
		}
	}
	return profile(tx, row)
}

// Freeze makes calls of an end user answer 403, with a token or with a key that they
// own, and ends their logins, until they are unfrozen.
func (s *Service) Freeze(ctx context.Context, p access.Principal, id string) (Profile, error) {
	frozen := true
	return s.UpdateUser(ctx, p, id, "", UserChange{Frozen: &frozen})
}

// Unfreeze undoes Freeze; they sign in again.
func (s *Service) Unfreeze(ctx context.Context, p access.Principal, id string) (Profile, error) {
	frozen := false
	return s.UpdateUser(ctx, p, id, "", UserChange{Frozen: &frozen})
}

// apply changes the row and returns the invalid fields.
func (in UserChange) apply(row *models.EndUser) (wrong []fault.Field) {
	name := row.Name
	if in.Email != nil {
		email, bad := in.readEmail(*row)
		if wrong = append(wrong, bad...); email != row.Email {
			row.Email, row.EmailVerified = email, false // until a provider says so
		}
	}
	for _, text := range []struct {
		pointer string
		in      *string
		set     func(string)
	}{
		{"/name", in.Name, func(v string) { row.Name = v }},
		{"/user_name", in.UserName, func(v string) { row.UserName = orNil(ascii.Lower(v)) }},
		{"/external_id", in.ExternalID, func(v string) { row.ExternalID = orNil(v) }},
	} {
		if text.in != nil {
			wrong = append(wrong, checkText(text.pointer, *text.in)...)
			text.set(strings.TrimSpace(*text.in))
		}
	}
	wrong = append(wrong, in.applyParts(row, name)...)
	switch {
	case in.Frozen == nil, *in.Frozen == (row.State == Frozen):
	case *in.Frozen:
		row.State = Frozen
	case row.LastLoginAt != nil:
		row.State = Active
	default:
		row.State = Invited
	}
	return wrong
}

// readEmail returns the new address. Only a user with a user name may have none: a
// provisioning system finds them by that, and may send an address later.
func (in UserChange) readEmail(row models.EndUser) (string, []fault.Field) {
	userName := orEmpty(row.UserName)
	if in.UserName != nil {
		userName = *in.UserName
	}
	if *in.Email == "" && userName != "" {
		return "", nil
	}
	return checkEmail("/email", *in.Email)
}

func findUser(tx *models.Tx, p access.Principal, id string, action access.Action) (models.EndUser, place, error) {
	if p.Anonymous() {
		return models.EndUser{}, place{}, access.Check(p, "", action)
	}
	row, err := tx.EndUserByID(id)
	if err != nil {
		return row, place{}, absent(err)
	}
	at, err := findTenant(tx, p, row.TenantID, action)
	return row, at, err
}

func profile(tx *models.Tx, row models.EndUser) (Profile, error) {
	out := Profile{User: viewUser(row)}
	identities, err := tx.IdentitiesOf(row.ID)
	if err != nil {
		return out, err
	}
	for _, one := range identities {
		out.Identities = append(out.Identities, Identity{
			Issuer:  one.Issuer,
			Subject: one.Subject,
			Since:   one.CreatedAt,
		})
	}
	out.Groups, err = memberships(tx, row.ID)
	return out, err
}
