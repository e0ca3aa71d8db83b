package directory

import (
	"context"
	"fmt"
	"time"

	"postern/models"
)

// The events that webhooks get of a tenant's users and groups.
const (
	EventUserCreated  = "user.created"
	EventUserSignedIn = "user.signed_in"
	EventUserFrozen   = "user.frozen"
	EventUserDeleted  = "user.deleted"
	EventGroupChanged = "group.changed"
)

// The values of "change" in a group.changed event.
const (
	groupCreated = "created"
	groupUpdated = "updated" // its name, display name or external id
	groupMembers = "members"
	groupDeleted = "deleted"
)

// Events queues an event for a team's webhooks in the caller's transaction
// (webhooks.Service).
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
}

// event is one message of a change.
type event struct {
	name string
	data map[string]string
}

func userEvent(name string, row models.EndUser) event {
	return event{name, map[string]string{
		"user":        row.ID,
		"state":       row.State,
		"external_id": orEmpty(row.ExternalID),
	}}
}

func groupEvent(row models.UserGroup, change string) event {
	return event{EventGroupChanged, map[string]string{
		"group":       row.ID,
		"name":        row.Name,
		"external_id": orEmpty(row.ExternalID),
		"change":      change,
	}}
}

// groupEvents returns the events of a group whose row or members changed; none if
// neither did.
func groupEvents(before, after groupChange, row models.UserGroup) []event {
	var list []event
	if before.Name != after.Name || before.DisplayName != after.DisplayName || before.ExternalID != after.ExternalID {
		list = append(list, groupEvent(row, groupUpdated))
	}
	if len(after.Added) > 0 || len(after.Removed) > 0 {
		list = append(list, groupEvent(row, groupMembers))
	}
	return list
}

// memberEvents returns an event for each group that a user is in directly, since a time or
// later.
func memberEvents(tx *models.Tx, userID string, since time.Time) ([]event, error) {
	direct, err := tx.GroupMembershipsOf(userID)
	if err != nil {
		return nil, err
	}
	var list []event
	for _, one := range direct {
		if one.CreatedAt.Before(since) {
			continue
		}
		row, err := tx.UserGroupByID(one.GroupID)
		if err != nil {
			return nil, err
		}
		list = append(list, groupEvent(row, groupMembers))
	}
	return list, nil
}

// emit sends events to the webhooks of the tenant's team, each with the tenant's id and
// name.
func emit(ctx context.Context, to Events, tx *models.Tx, at place, list ...event) error {
	if to == nil {
		return nil
	}
	for _, one := range list {
		data := map[string]any{"tenant": at.ID, "tenant_name": at.Name}
		for name, value := range one.data {
			data[name] = value
		}
		if at.ProjectID != nil {
			data["project"] = *at.ProjectID
		}
		if err := to.Emit(ctx, tx, at.team, one.name, data); err != nil {
			return fmt.Errorf("directory: send the event %s: %w", one.name, err)
		}
	}
	return nil
}

// EmitGroupMembers sends group.changed for groups whose members another service changed
// in tx, such as by the claims of a sign-in, and has gateways follow the change.
func EmitGroupMembers(
	ctx context.Context, to Events, tx *models.Tx, tenant models.Tenant, team string, groups ...models.UserGroup,
) error {
	var list []event
	for _, row := range groups {
		list = append(list, groupEvent(row, groupMembers))
	}
	if len(groups) > 0 {
		if err := tx.AddRuleRevisions(tenant, models.Now()); err != nil {
			return fmt.Errorf("directory: revise projects whose rules require groups: %w", err)
		}
	}
	return emit(ctx, to, tx, place{tenant, team}, list...)
}

// SignIn is a sign-in that Provision wrote at the time At.
type SignIn struct {
	Tenant           models.Tenant
	Team             string
	User             models.EndUser
	Client, Provider string // ids
	First            bool   // what Provision returned as created
	At               time.Time
}

// EmitSignIn sends the events of a sign-in: user.created if it created the user,
// group.changed for the groups that it put them into, and user.signed_in.
func EmitSignIn(ctx context.Context, to Events, tx *models.Tx, in SignIn) error {
	if to == nil {
		return nil
	}
	var list []event
	if in.First {
		if in.User.CreatedAt.Equal(in.At) { // otherwise they were invited before
			list = append(list, userEvent(EventUserCreated, in.User))
		}
		joined, err := memberEvents(tx, in.User.ID, in.At)
		if err != nil {
			return fmt.Errorf("directory: groups of the new user %s: %w", in.User.ID, err)
		}
		list = append(list, joined...)
	}
	arrived := userEvent(EventUserSignedIn, in.User)
	arrived.data["client"], arrived.data["provider"] = in.Client, in.Provider
	return emit(ctx, to, tx, place{in.Tenant, in.Team}, append(list, arrived)...)
}
