package contract

import (
	"net/http"
	"time"
)

// GroupPath is the path parameter of a group.
type GroupPath struct {
	Group string `path:"group" id:"group" doc:"ID of the group"`
}

// Group is a group of a tenant's users, and of apps that own keys of the tenant. Rules and headers use its name, so
// that the display name can change without any effect on them.
type Group struct {
	GroupRecord
	Tenant   string        `json:"tenant" doc:"ID of the tenant"`
	Members  int64         `json:"members" doc:"Number of users who are direct members"`
	Owners   int64         `json:"owners" doc:"Number of apps (owners of keys that aren't users) that are direct members"`
	Children []NestedGroup `json:"children,omitempty" doc:"Nested groups. Their members are also members of this group. Omitted in lists"`
	Parents  []NestedGroup `json:"parents,omitempty" doc:"Groups that directly contain this group. Omitted in lists"`
	ETag     string        `json:"etag" doc:"Send as If-Match to update the group"`
}

// GroupRecord are the members of a group that an export has too.
type GroupRecord struct {
	ID          string    `json:"id"`
	Name        string    `json:"name" doc:"Name in rules and headers"`
	DisplayName string    `json:"display_name"`
	ExternalID  string    `json:"external_id,omitempty" doc:"ID in the provisioning system"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Path returns its path parameter.
func (g Group) Path() GroupPath { return GroupPath{Group: g.ID} }

// Tag returns the group's ETag.
func (g Group) Tag() string { return g.ETag }

// NestedGroup is a group that is nested in another, or contains it.
type NestedGroup struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
}

// GroupList is a request for the groups of a tenant.
type GroupList struct {
	TenantPath
	Page
	Sort string `query:"sort" enum:"name,-name,created,-created" doc:"Sort order. A leading - means descending. Defaults to name"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the name or display name, ignoring case"`
}

// NewGroup is a group to be created.
type NewGroup struct {
	Name        string `json:"name" doc:"Name in rules and headers, such as admins"`
	DisplayName string `json:"display_name,omitempty" doc:"Name in the dashboard. Defaults to the name"`
}

// GroupCreation is a request for a new group.
type GroupCreation struct {
	TenantPath
	Body NewGroup
}

// In returns the request to create it in a tenant.
func (g NewGroup) In(tenant string) GroupCreation {
	return GroupCreation{TenantPath: TenantPath{Tenant: tenant}, Body: g}
}

// GroupChange changes a group; nil leaves a member unchanged.
type GroupChange struct {
	Name        *string `json:"name,omitempty" doc:"New name in rules and headers. Existing rules continue to refer to the old name"`
	DisplayName *string `json:"display_name,omitempty" doc:"Name in the dashboard"`
}

// GroupUpdate is a request to change a group.
type GroupUpdate struct {
	GroupPath
	Condition
	Body GroupChange
}

// GroupMember is a user who is directly in a group.
type GroupMember struct {
	User  string    `json:"user" doc:"ID of the user"`
	Email string    `json:"email"`
	Name  string    `json:"name"`
	State string    `json:"state" enum:"active,frozen,invited"`
	Role  string    `json:"role" enum:"member,admin"`
	Since time.Time `json:"since"`
}

// GroupMemberList is a request for the members of a group.
type GroupMemberList struct {
	GroupPath
	Page
	Sort string `query:"sort" enum:"name,-name,role,-role" doc:"Sort order. A leading - means descending. Defaults to user ID"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the email address or name, ignoring case"`
}

// GroupMemberPath are the path parameters of a user in a group.
type GroupMemberPath struct {
	GroupPath
	UserPath
}

// InGroup returns the path parameters of a user in a group.
func InGroup(group, user string) GroupMemberPath {
	return GroupMemberPath{GroupPath: GroupPath{Group: group}, UserPath: UserPath{User: user}}
}

// GroupMemberRole is the role of a user in a group.
type GroupMemberRole struct {
	Role string `json:"role" enum:"member,admin" doc:"member or admin. Admins can manage the members, and rules can require the admin role"`
}

// GroupMembership is a request to put a user into a group, or to change the role there.
type GroupMembership struct {
	GroupMemberPath
	Body GroupMemberRole
}

// As returns the request to give the user a role in the group.
func (p GroupMemberPath) As(role string) GroupMembership {
	return GroupMembership{GroupMemberPath: p, Body: GroupMemberRole{Role: role}}
}

// GroupOwner is an app that owns keys of the tenant and is directly in a group.
type GroupOwner struct {
	Owner   string    `json:"owner" doc:"Owner of keys, such as billing-service"`
	Role    string    `json:"role" enum:"member,admin"`
	HasKeys bool      `json:"has_keys" doc:"True if the owner has a key in the tenant that isn't revoked"`
	Since   time.Time `json:"since"`
}

// GroupOwnerList is a request for the app owners in a group.
type GroupOwnerList struct {
	GroupPath
	Page
	Sort string `query:"sort" enum:"owner,-owner,role,-role" doc:"Sort order. A leading - means descending. Defaults to owner"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the owner's name, ignoring case"`
}

// NewGroupOwner is an app owner with its role in a group.
type NewGroupOwner struct {
	Owner string `json:"owner" doc:"Owner of keys, such as billing-service. Add users as members, not as owners"`
	Role  string `json:"role" enum:"member,admin" doc:"member or admin. Rules can require the admin role"`
}

// GroupOwnership is a request to put an app owner into a group, or to change its role there. The name isn't in the
// path, because it can have slashes.
type GroupOwnership struct {
	GroupPath
	Body NewGroupOwner
}

// GroupOwnerRemoval is a request to remove an app owner from a group.
type GroupOwnerRemoval struct {
	GroupPath
	Owner string `query:"owner" required:"true" doc:"Owner of keys, such as billing-service"`
}

// NestingPath are the path parameters of a group in another one.
type NestingPath struct {
	GroupPath
	Child string `path:"child" id:"group" doc:"ID of the nested group"`
}

// Nested returns the path parameters of a group in another one.
func Nested(outer, inner string) NestingPath {
	return NestingPath{GroupPath: GroupPath{Group: outer}, Child: inner}
}

const (
	tenantGroups = "/api/v1/tenants/{tenant}/groups"
	group        = "/api/v1/groups/{group}"
	groupMember  = group + "/members/{user}"
	groupOwners  = group + "/owners"
	groupChild   = group + "/children/{child}"
)

// The operations on groups and their members.
var (
	ListGroups = &Op[GroupList, List[Group]]{Operation{
		ID: "list-groups", Method: http.MethodGet, Path: tenantGroups, Summary: "List a tenant's groups",
		Command: "groups list TENANT", Permission: ReadUsers,
		Doc: "Lists the tenant's groups, with the number of direct members in each.",
	}}
	CreateGroup = &Op[GroupCreation, Group]{Operation{
		ID: "create-group", Method: http.MethodPost, Path: tenantGroups, Status: http.StatusCreated,
		Summary: "Create a group", Command: "groups create TENANT NAME",
		Example: "groups create acme admins --display-name Administrators", Permission: UpdateUsers,
		Doc: "Rules can require the group, and its members' tokens include it.",
	}}
	GetGroup = &Op[GroupPath, Group]{Operation{
		ID: "get-group", Method: http.MethodGet, Path: group, Permission: ReadUsers,
		Summary: "Get a group", Command: "groups show GROUP",
		Doc: "Returns the group, its member counts, its nested groups and the groups that it's nested in.",
	}}
	UpdateGroup = &Op[GroupUpdate, Group]{Operation{
		ID: "update-group", Method: http.MethodPatch, Path: group, Summary: "Update a group", Permission: UpdateUsers,
		Command: "groups update GROUP",
		Example: "groups update admins --name owners",
		Doc: "Changes only the fields you send. Rules refer to groups by name. If you change the name, rules that " +
			"require the old name no longer allow anyone.",
	}}
	DeleteGroup = &Op[GroupPath, None]{Operation{
		ID: "delete-group", Deletes: "group", Method: http.MethodDelete, Path: group, Status: http.StatusNoContent,
		Summary: "Delete a group", Command: "groups delete GROUP", Permission: UpdateUsers,
		Doc: "Its members remain users of the tenant. Rules that require the group no longer allow anyone.",
	}}
	ListGroupMembers = &Op[GroupMemberList, List[GroupMember]]{Operation{
		ID: "list-group-members", Method: http.MethodGet, Path: group + "/members", Permission: ReadUsers,
		Summary: "List a group's direct members", Command: "groups members list GROUP",
		Doc: "Lists the users who are direct members of the group. Members of nested groups aren't listed.",
	}}
	SetGroupMember = &Op[GroupMembership, Group]{Operation{
		ID: "set-group-member", Method: http.MethodPut, Path: groupMember, Permission: UpdateUsers,
		Summary: "Add a user to a group or change their role",
		Command: "groups members set GROUP USER ROLE", Example: "groups members set staff ana@example.com member",
		Doc: "If the user is already a member, their role changes.",
	}}
	RemoveGroupMember = &Op[GroupMemberPath, None]{Operation{
		ID: "remove-group-member", Method: http.MethodDelete, Path: groupMember, Status: http.StatusNoContent,
		Summary: "Remove a user from a group", Command: "groups members remove GROUP USER", Permission: UpdateUsers,
		Doc: "The user remains a user of the tenant.",
	}}
	ListGroupOwners = &Op[GroupOwnerList, List[GroupOwner]]{Operation{
		ID: "list-group-owners", Method: http.MethodGet, Path: groupOwners, Permission: ReadUsers,
		Summary: "List the app owners in a group", Command: "groups owners list GROUP",
		Doc: "Lists the apps that own keys and are direct members of the group. An app remains in the group even if " +
			"it no longer has a key.",
	}}
	SetGroupOwner = &Op[GroupOwnership, Group]{Operation{
		ID: "set-group-owner", Method: http.MethodPost, Path: groupOwners, Permission: UpdateUsers,
		Summary: "Add an app owner to a group or change its role",
		Command: "groups owners set GROUP OWNER ROLE",
		Example: "groups owners set staff billing-service member",
		Doc: "Rules that require the group allow all of the tenant's keys that have this owner. The owner doesn't " +
			"need to have a key yet. If the owner is already in the group, its role changes.",
	}}
	RemoveGroupOwner = &Op[GroupOwnerRemoval, None]{Operation{
		ID: "remove-group-owner", Method: http.MethodDelete, Path: groupOwners, Status: http.StatusNoContent,
		Summary: "Remove an app owner from a group", Command: "groups owners remove GROUP OWNER",
		Permission: UpdateUsers,
		Doc:        "The owner's keys keep working for routes that don't require the group.",
	}}
	NestGroup = &Op[NestingPath, Group]{Operation{
		ID: "nest-group", Method: http.MethodPut, Path: groupChild, Permission: UpdateUsers,
		Summary: "Nest a group in another group",
		Command: "groups nest GROUP CHILD",
		Example: "groups nest staff support",
		Doc:     "Members of the child group become members of the parent group.",
	}}
	UnnestGroup = &Op[NestingPath, None]{Operation{
		ID: "unnest-group", Method: http.MethodDelete, Path: groupChild, Status: http.StatusNoContent,
		Summary: "Remove a nested group from its parent", Command: "groups unnest GROUP CHILD", Permission: UpdateUsers,
		Doc: "Members of the child group are removed from the parent group, unless they are in it directly or " +
			"through another nested group.",
	}}
)

var groupOperations = []Described{
	ListGroups, CreateGroup, GetGroup, UpdateGroup, DeleteGroup, ListGroupMembers, SetGroupMember, RemoveGroupMember,
	ListGroupOwners, SetGroupOwner, RemoveGroupOwner, NestGroup, UnnestGroup,
}
