package contract

import (
	"net/http"
	"time"
)

// SignupPolicy says who may sign in to a tenant for the first time.
type SignupPolicy struct {
	InviteOnly bool   `json:"invite_only" doc:"New users must be invited or approved; existing users may still sign in"`
	ETag       string `json:"etag" doc:"Send as If-Match to update the policy" audit:"-"`
}

// Tag returns the policy's ETag.
func (p SignupPolicy) Tag() string { return p.ETag }

// SignupPolicyChange changes a sign-up policy; nil leaves a member as it is.
type SignupPolicyChange struct {
	InviteOnly *bool `json:"invite_only,omitempty" doc:"Whether new users must be invited or approved; false: everyone with an account at one of the tenant's providers may sign in"`
}

// SignupPolicyUpdate is a request to change a sign-up policy.
type SignupPolicyUpdate struct {
	TenantPath
	Condition
	Body SignupPolicyChange
}

// ApprovalPath are the path parameters of an approval.
type ApprovalPath struct {
	TenantPath
	Approval string `path:"approval" doc:"Id of the approval"`
}

// ApprovalOf returns the path parameters of an approval of a tenant.
func ApprovalOf(tenant, id string) ApprovalPath { return ApprovalPath{TenantPath{tenant}, id} }

// Approval lets users sign in for the first time whose provider confirms their address, and puts them into groups.
type Approval struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" enum:"email,domain"`
	Value     string    `json:"value" doc:"E-mail address or domain, in lower case"`
	Groups    []string  `json:"groups" doc:"Ids of the groups that users approved by it are added to"`
	ETag      string    `json:"etag" doc:"Send as If-Match to update the approval" audit:"-"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Tag returns the approval's ETag.
func (a Approval) Tag() string { return a.ETag }

// Kinds of approvals.
const (
	ByEmail  = "email"
	ByDomain = "domain"
)

// ApprovalList is a request for the approvals of a tenant.
type ApprovalList struct {
	TenantPath
	Page
	Sort string `query:"sort" enum:"created,-created,value,-value" doc:"Order; - begins at the end; default: created"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Part of the address or the domain, ignoring case"`
}

// NewApproval is an approval to be created.
type NewApproval struct {
	Value  string   `json:"value" doc:"E-mail address, or domain without its subdomains"`
	Kind   string   `json:"kind,omitempty" enum:"email,domain" doc:"What the value is; default: email if it contains @, otherwise domain"`
	Groups []string `json:"groups,omitempty" doc:"Ids of groups to add users approved by it to"`
}

// In returns the request to create the approval in a tenant.
func (a NewApproval) In(tenant string) ApprovalCreation {
	return ApprovalCreation{TenantPath: TenantPath{Tenant: tenant}, Body: a}
}

// ApprovalCreation is a request for a new approval.
type ApprovalCreation struct {
	TenantPath
	Body NewApproval
}

// ApprovalChange changes an approval; nil leaves a member as it is.
type ApprovalChange struct {
	Groups *[]string `json:"groups,omitempty" doc:"Ids of groups to add users approved by it to, in place of the earlier ones"`
}

// ApprovalUpdate is a request to change an approval.
type ApprovalUpdate struct {
	ApprovalPath
	Condition
	Body ApprovalChange
}

const (
	signup    = tenant + "/signup"
	approvals = signup + "/approvals"
	approval  = approvals + "/{approval}"
)

// The operations on sign-up policies and their approvals.
var (
	GetSignupPolicy = Op[TenantPath, SignupPolicy]{Operation{
		ID: "get-signup-policy", Method: http.MethodGet, Path: signup, Summary: "Get a tenant's sign-up policy",
		Command: "signup show TENANT", Permission: ReadUsers,
		Doc: "Says whether users who sign in for the first time must be invited or approved.",
	}}
	UpdateSignupPolicy = Op[SignupPolicyUpdate, SignupPolicy]{Operation{
		ID: "update-signup-policy", Method: http.MethodPatch, Path: signup, Permission: UpdateUsers,
		Summary: "Update a tenant's sign-up policy", Command: "signup update TENANT",
		Example: "signup update acme --invite-only",
		Doc:     "The change applies from the next sign-in on. Existing users may still sign in.",
	}}
	ListApprovals = Op[ApprovalList, List[Approval]]{Operation{
		ID: "list-approvals", Method: http.MethodGet, Path: approvals, Summary: "List a tenant's approvals",
		Command: "signup approvals list TENANT", Permission: ReadUsers,
		Doc: "Lists the addresses and domains whose users may sign in for the first time.",
	}}
	CreateApproval = Op[ApprovalCreation, Approval]{Operation{
		ID: "create-approval", Method: http.MethodPost, Path: approvals, Status: http.StatusCreated,
		Summary: "Create an approval", Command: "signup approvals create TENANT VALUE", Permission: UpdateUsers,
		Example: "signup approvals create acme example.com --groups grp_01",
		Doc: "Approves one e-mail address, or every address of a domain. The provider must have verified the " +
			"address; a domain counts only if the provider is authoritative for it.",
	}}
	GetApproval = Op[ApprovalPath, Approval]{Operation{
		ID: "get-approval", Method: http.MethodGet, Path: approval, Summary: "Get an approval", Permission: ReadUsers,
		Command: "signup approvals show TENANT APPROVAL",
		Doc:     "Has the address or domain, and the groups that users approved by it are added to.",
	}}
	UpdateApproval = Op[ApprovalUpdate, Approval]{Operation{
		ID: "update-approval", Method: http.MethodPatch, Path: approval, Summary: "Update an approval's groups",
		Command: "signup approvals update TENANT APPROVAL", Permission: UpdateUsers,
		Example: "signup approvals update acme apv_01 --groups grp_01 --groups grp_02",
		Doc:     "Users who have signed in already keep their groups.",
	}}
	DeleteApproval = Op[ApprovalPath, None]{Operation{
		ID: "delete-approval", Method: http.MethodDelete, Path: approval, Status: http.StatusNoContent,
		Summary: "Delete an approval", Command: "signup approvals delete TENANT APPROVAL", Permission: UpdateUsers,
		Doc: "Users who have signed in with it stay.",
	}}
)

var signupOperations = []Described{
	GetSignupPolicy, UpdateSignupPolicy, ListApprovals, CreateApproval, GetApproval, UpdateApproval, DeleteApproval,
}
