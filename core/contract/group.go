package contract

import (
	"net/http"
	"time"
)

// GroupPath is the path parameter of a group.
type GroupPath struct {
	Group string `path:"group" doc:"Id of the group"`
}

// Group is a group of a tenant's users. Rules and headers use its name, so that the display name can change
// without any effect on them.
type Group struct {
	ID          string        `json:"id"`
	Tenant      string        `json:"tenant" doc:"Id of the tenant"`
	Name        string        `json:"name" doc:"Name in rules and headers"`
	DisplayName string        `json:"display_name"`
	ExternalID  string        `json:"external_id,omitempty" doc:"Id in the provisioning system"`
	Members     int64         `json:"members" doc:"Number of direct members"`
	CreatedAt   time.Time     `json:"created_at"`
	UpdatedAt   time.Time     `json:"updated_at"`
	Children    []NestedGroup `json:"children,omitempty" doc:"Nested groups, whose members are members too; not in lists"`
	Parents     []NestedGroup `json:"parents,omitempty" doc:"Groups that directly contain it; not in lists"`
	ETag        string        `json:"etag" doc:"Send as If-Match to update the group"`
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
	Sort string `query:"sort" enum:"name,-name,created,-created" doc:"Order; - begins at the end"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Part of the name or the display name, ignoring case"`
}

// NewGroup is a group to be created.
type NewGroup struct {
	Name        string `json:"name" doc:"Name in rules and headers, for example admins"`
	DisplayName string `json:"display_name,omitempty" doc:"Name on pages; default: name"`
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

// GroupChange changes a group; nil leaves a member as it is.
type GroupChange struct {
	Name        *string `json:"name,omitempty" doc:"Name in rules and headers. Rules that name the group must be changed too"`
	DisplayName *string `json:"display_name,omitempty" doc:"Name on pages"`
}

// GroupUpdate is a request to change a group.
type GroupUpdate struct {
	GroupPath
	Condition
	Body GroupChange
}

// GroupMember is a user who is directly in a group.
type GroupMember struct {
	User  string    `json:"user" doc:"Id of the user"`
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
	Sort string `query:"sort" enum:"name,-name,role,-role" doc:"Order; - begins at the end"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Part of the e-mail address or the name, ignoring case"`
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

// GroupMemberRole is what a user is in a group.
type GroupMemberRole struct {
	Role string `json:"role" enum:"member,admin" doc:"Rules can require admin; admins can manage the members"`
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

// NestingPath are the path parameters of a group in another one.
type NestingPath struct {
	GroupPath
	Child string `path:"child" doc:"Id of the nested group"`
}

// Nested returns the path parameters of a group in another one.
func Nested(outer, inner string) NestingPath {
	return NestingPath{GroupPath: GroupPath{Group: outer}, Child: inner}
}

const (
	tenantGroups = "/api/v1/tenants/{tenant}/groups"
	group        = "/api/v1/groups/{group}"
	groupMember  = group + "/members/{user}"
	groupChild   = group + "/children/{child}"
)

// The operations on groups and their members.
var (
	ListGroups = Op[GroupList, List[Group]]{Operation{
		ID: "list-groups", Method: http.MethodGet, Path: tenantGroups, Summary: "List a tenant's groups",
		Command: "groups list TENANT", Permission: ReadUsers,
		Doc: "Lists the groups of the tenant.",
	}}
	CreateGroup = Op[GroupCreation, Group]{Operation{
		ID: "create-group", Method: http.MethodPost, Path: tenantGroups, Status: http.StatusCreated,
		Summary: "Create a group", Command: "groups create TENANT NAME", Permission: UpdateUsers,
		Doc: "Rules can require the group, and tokens of its members name it.",
	}}
	GetGroup = Op[GroupPath, Group]{Operation{
		ID: "get-group", Method: http.MethodGet, Path: group, Permission: ReadUsers,
		Summary: "Get a group with the groups it contains or is in", Command: "groups show GROUP",
		Doc: "Has the group with the number of its members.",
	}}
	UpdateGroup = Op[GroupUpdate, Group]{Operation{
		ID: "update-group", Method: http.MethodPatch, Path: group, Summary: "Update a group", Permission: UpdateUsers,
		Command: "groups update GROUP",
		Doc:     "Changes only what you send. Rules name groups by name, so a rule with the old name matches no one.",
	}}
	DeleteGroup = Op[GroupPath, None]{Operation{
		ID: "delete-group", Method: http.MethodDelete, Path: group, Status: http.StatusNoContent,
		Summary: "Delete a group; its members stay users", Command: "groups delete GROUP", Permission: UpdateUsers,
		Doc: "Its members stay users of the tenant. Rules that require it match no one.",
	}}
	ListGroupMembers = Op[GroupMemberList, List[GroupMember]]{Operation{
		ID: "list-group-members", Method: http.MethodGet, Path: group + "/members", Permission: ReadUsers,
		Summary: "List a group's direct members", Command: "groups members list GROUP",
		Doc: "Lists the users in the group itself; members of nested groups are not among them.",
	}}
	SetGroupMember = Op[GroupMembership, Group]{Operation{
		ID: "set-group-member", Method: http.MethodPut, Path: groupMember, Permission: UpdateUsers,
		Summary: "Add a user to a group, or change the user's role there",
		Command: "groups members set GROUP USER ROLE", Example: "groups members set grp_… usr_… member",
		Doc: "Adds the user, or changes their role in the group.",
	}}
	RemoveGroupMember = Op[GroupMemberPath, None]{Operation{
		ID: "remove-group-member", Method: http.MethodDelete, Path: groupMember, Status: http.StatusNoContent,
		Summary: "Remove a user from a group", Command: "groups members remove GROUP USER", Permission: UpdateUsers,
		Doc: "The user stays a user of the tenant.",
	}}
	NestGroup = Op[NestingPath, Group]{Operation{
		ID: "nest-group", Method: http.MethodPut, Path: groupChild, Permission: UpdateUsers,
		Summary: "Nest a group in a group: its members become members of the outer one",
		Command: "groups nest GROUP CHILD",
		Doc:     "Members of the child count as members of the group.",
	}}
	UnnestGroup = Op[NestingPath, None]{Operation{
		ID: "unnest-group", Method: http.MethodDelete, Path: groupChild, Status: http.StatusNoContent,
		Summary: "Remove a nested group", Command: "groups unnest GROUP CHILD", Permission: UpdateUsers,
		Doc: "Members of the child no longer count as members of the group.",
	}}
)

var groupOperations = []Described{
	ListGroups, CreateGroup, GetGroup, UpdateGroup, DeleteGroup, ListGroupMembers, SetGroupMember, RemoveGroupMember,
	NestGroup, UnnestGroup,
}
