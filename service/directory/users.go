package directory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// NewUser is a user to be created. A provisioning system sends more than the contract has; what it doesn't know is "".
type NewUser struct {
	contract.NewUser
	UserName, ExternalID  string
	GivenName, FamilyName string // parts of the name
	Frozen                bool
}

// UserChange changes a user; nil leaves a field unchanged. A provisioning system sends more than the contract has.
type UserChange struct {
	contract.UserChange
	UserName, ExternalID  *string
	GivenName, FamilyName *string
	Frozen                *bool
}

// Users lists a tenant's end users, newest first.
func (s *Service) Users(
	ctx context.Context, p access.Principal, in contract.UserList,
) (models.List[contract.User], error) {
	var none models.List[contract.User]
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, in.Tenant, access.UserRead)
	if err != nil {
		return none, fmt.Errorf("directory: users of %s: %w", in.Tenant, err)
	}
	if err := checkState(in.State); err != nil {
		return none, err
	}
	filter := models.UserFilter{State: in.State, Email: ascii.Lower(in.Email), Query: in.Text, Group: in.Group}
	rows, err := tx.EndUsersOf(at.ID, filter, models.PageOf(in.Page, in.Sort, ""))
	if err != nil {
		return none, fmt.Errorf("directory: users of %s: %w", in.Tenant, err)
	}
	return models.MapList(rows, viewUser), nil
}

func checkState(state string) error {
	if state != "" && state != Active && state != Frozen && state != Invited {
		return fault.InvalidField("/state", "invalid_state", "Use active, frozen or invited.")
	}
	return nil
}

var errManyTenants = fault.InvalidField("/tenant", "tenant_required",
	"This project has more than %d tenants. Choose a tenant to list its users.", models.MaxMerged)

// ProjectUsers lists the end users of the tenants that a project serves, newest first. NotFound for a tenant that it
// doesn't serve, Invalid tenant_required if it serves more than models.MaxMerged and none is chosen.
func (s *Service) ProjectUsers(
	ctx context.Context, p access.Principal, in contract.ProjectUserList,
) (models.List[contract.User], error) {
	var none models.List[contract.User]
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.UserRead)
	if err != nil {
		return none, fmt.Errorf("directory: users of project %s: %w", in.Project, err)
	}
	if err := checkState(in.State); err != nil {
		return none, err
	}
	rows, err := projectUsers(tx, project, in)
	if err != nil {
		return none, fmt.Errorf("directory: users of project %s: %w", project.ID, err)
	}
	return models.MapList(rows, viewUser), nil
}

func projectUsers(
	tx *models.Tx, project models.Project, in contract.ProjectUserList,
) (list models.List[models.EndUser], err error) {
	filter, page := models.UserFilter{State: in.State, Query: in.Text}, models.PageOf(in.Page, in.Sort, "")
	if in.Tenant != "" {
		tenant, err := servedTenant(tx, project, in.Tenant)
		if err != nil {
			return list, err
		}
		return tx.EndUsersOf(tenant, filter, page)
	}
	list, err = tx.EndUsersServed(project.ID, filter, page)
	if errors.Is(err, models.ErrManyTenants) {
		err = errManyTenants
	}
	return list, err
}

// servedTenant returns the id of a tenant that a project serves, which is named by its id, or by its name in the
// project's team.
func servedTenant(tx *models.Tx, project models.Project, ref string) (string, error) {
	tenant, err := tx.TenantByName(project.TeamID, ref)
	if errors.Is(err, models.ErrNotFound) { // ids contain an underscore, which names cannot
		tenant, err = tx.TenantByID(ref)
	}
	if err != nil {
		return "", absent(err)
	}
	served, err := tx.Serves(project.ID, tenant)
	if err == nil && !served {
		err = access.NotFound()
	}
	return tenant.ID, err
}

// UsersFrom counts a tenant's end users and lists at most limit of them, oldest
// first, without the first skip. It is how SCIM pages (RFC 7644, 3.4.2.4).
func (s *Service) UsersFrom(
	ctx context.Context, p access.Principal, tenant string, filter models.UserFilter, skip, limit int,
) ([]contract.User, int64, error) {
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

// User finds an end user with their identities and groups.
func (s *Service) User(ctx context.Context, p access.Principal, in contract.UserPath) (contract.User, error) {
	tx, id := s.DB.Read(ctx), in.User
	row, _, err := findUser(tx, p, id, access.UserRead)
	if err != nil {
		return contract.User{}, fmt.Errorf("directory: user %s: %w", id, err)
	}
	out, err := profile(tx, row)
	if err != nil {
		return out, fmt.Errorf("directory: user %s: %w", id, err)
	}
	return out, nil
}

// CreateUser creates an invited user. seatOf says which sign-in takes their seat.
func (s *Service) CreateUser(
	ctx context.Context, p access.Principal, in contract.UserCreation,
) (contract.User, error) {
	return s.ProvisionUser(ctx, p, in.Tenant, NewUser{NewUser: in.Body})
}

// ProvisionUser is CreateUser for a provisioning system. A user who has signed in already with an account that its
// directory has under the external id gets what is provisioned.
func (s *Service) ProvisionUser(
	ctx context.Context, p access.Principal, tenant string, in NewUser,
) (contract.User, error) {
	var out contract.User
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
			name:   NameOf(row),
			after:  auditedOf(row),
			revise: (*models.Tx).AddTenantRevisions,
			events: append([]event{userEvent(EventUserCreated, row)}, joined...),
		}, err
	})
	if err != nil {
		return contract.User{}, fmt.Errorf("directory: create a user of %s: %w", tenant, err)
	}
	return out, nil
}

// createUser inserts an invited user. The tenant is locked.
func createUser(tx *models.Tx, at place, in NewUser) (models.EndUser, error) {
	now := models.Now()
	row := models.EndUser{ID: models.NewID("usr"), TenantID: at.ID, State: Invited, CreatedAt: now, UpdatedAt: now}
	wrong := UserChange{
		UserChange: contract.UserChange{Email: &in.Email, Name: &in.Name},
		UserName:   &in.UserName,
		ExternalID: &in.ExternalID,
		GivenName:  &in.GivenName,
		FamilyName: &in.FamilyName,
		Frozen:     &in.Frozen,
	}.apply(&row)
	groups, unknown, err := groupsNamed(tx, at.ID, in.Groups)
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
	return row, insertUser(tx, row, groups, now)
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

// UpdateUser changes an end user.
func (s *Service) UpdateUser(ctx context.Context, p access.Principal, in contract.UserUpdate) (contract.User, error) {
	return s.ChangeUser(ctx, p, in.User, in.IfMatch, UserChange{UserChange: in.Body})
}

// ChangeUser is UpdateUser for all that can be changed. With ifMatch not empty it is refused as stale unless that is
// still the user's ETag.
func (s *Service) ChangeUser(
	ctx context.Context, p access.Principal, id, ifMatch string, in UserChange,
) (contract.User, error) {
	var out contract.User
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
		return contract.User{}, fmt.Errorf("directory: update the user %s: %w", id, err)
	}
	return out, nil
}

// changeUser changes an end user. They and the tenant are locked.
func changeUser(tx *models.Tx, at place, before models.EndUser, in UserChange) (contract.User, outcome, error) {
	row := before
	if err := fault.InvalidFields(in.apply(&row)); err != nil {
		return contract.User{}, outcome{}, err
	}
	if shownAs(before) != shownAs(row) {
		if err := isDistinct(tx, at, row); err != nil {
			return contract.User{}, outcome{}, err
		}
	}
	if err := externalIDFree(tx, at, row); err != nil {
		return contract.User{}, outcome{}, err
	}
	out, err := updateUser(tx, row)
	if err != nil {
		return contract.User{}, outcome{}, err
	}
	done := outcome{object: row.ID, name: NameOf(row), before: auditedOf(before), after: auditedOf(row)}
	if before.State != row.State {
		done.revise = (*models.Tx).AddPersonRevisions
		if row.State == Frozen {
			done.events = []event{userEvent(EventUserFrozen, row)}
		}
	}
	return out, done, nil
}

// updateUser writes a changed user, and ends the logins of one who is frozen.
func updateUser(tx *models.Tx, row models.EndUser) (contract.User, error) {
	row.UpdatedAt = models.Now()
	if err := taken(tx.UpdateEndUser(row)); err != nil {
		return contract.User{}, err
	}
	if row.State == Frozen {
		if _, err := tx.EndLoginsOf(
			row.ID, row.UpdatedAt, row.UpdatedAt.Add(-snapshot.BarredFor), row.UpdatedAt.Add(snapshot.BarredFor),
		); err != nil {
			return contract.User{}, err
		}
	}
	return profile(tx, row)
}

// Freeze makes calls of an end user answer 403, with a token or with a key that they
// own, and ends their logins, until they are unfrozen.
func (s *Service) Freeze(ctx context.Context, p access.Principal, in contract.UserPath) (contract.User, error) {
	frozen := true
	return s.ChangeUser(ctx, p, in.User, "", UserChange{Frozen: &frozen})
}

// Unfreeze undoes Freeze; they sign in again.
func (s *Service) Unfreeze(ctx context.Context, p access.Principal, in contract.UserPath) (contract.User, error) {
	frozen := false
	return s.ChangeUser(ctx, p, in.User, "", UserChange{Frozen: &frozen})
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

func profile(tx *models.Tx, row models.EndUser) (contract.User, error) {
	out := viewUser(row)
	identities, err := tx.IdentitiesOf(row.ID)
	if err != nil {
		return out, err
	}
	for _, one := range identities {
		out.Identities = append(out.Identities, contract.UserIdentity{
			Issuer:  one.Issuer,
			Subject: one.Subject,
			Since:   one.CreatedAt.UTC(),
		})
	}
	out.Groups, err = memberships(tx, row.ID)
	return out, err
}
