package contract

import (
	"net/http"
	"time"
)

// SignupPolicy says who may sign in to a tenant for the first time.
type SignupPolicy struct {
	InviteOnly bool   `json:"invite_only" doc:"True if new users must be invited or approved. Existing users can still sign in"`
	ETag       string `json:"etag" doc:"Send as If-Match to update the policy" audit:"-"`
}

// Tag returns the policy's ETag.
func (p SignupPolicy) Tag() string { return p.ETag }

// SignupPolicyChange changes a sign-up policy; nil leaves a member unchanged.
type SignupPolicyChange struct {
	InviteOnly *bool `json:"invite_only,omitempty" doc:"Require new users to be invited or approved. If false, anyone with an account at one of the tenant's providers can sign in"`
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
	Approval string `path:"approval" doc:"ID of the approval"`
}

// ApprovalOf returns the path parameters of an approval of a tenant.
func ApprovalOf(tenant, id string) ApprovalPath { return ApprovalPath{TenantPath{tenant}, id} }

// Approval lets users whose provider confirms a matching email address sign in for the first time, and puts them into
// groups.
type Approval struct {
	ApprovalRecord
	ETag      string    `json:"etag" doc:"Send as If-Match to update the approval" audit:"-"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ApprovalRecord has the members of an approval that exports include too.
type ApprovalRecord struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" enum:"email,domain"`
	Value     string    `json:"value" doc:"Email address or domain, in lowercase"`
	Groups    []string  `json:"groups" doc:"IDs of the groups that approved users are added to"`
	CreatedAt time.Time `json:"created_at"`
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
	Sort string `query:"sort" enum:"created,-created,value,-value" doc:"Sort order. A leading - means descending. Defaults to created"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the address or domain, ignoring case"`
}

// NewApproval is an approval to be created.
type NewApproval struct {
	Value  string   `json:"value" doc:"Email address or domain. A domain doesn't include its subdomains"`
	Kind   string   `json:"kind,omitempty" enum:"email,domain" doc:"Kind of value. Defaults to email if the value contains @, otherwise to domain"`
	Groups []string `json:"groups,omitempty" doc:"Groups that approved users are added to, by ID or name"`
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

// ApprovalChange changes an approval; nil leaves a member unchanged.
type ApprovalChange struct {
	Groups *[]string `json:"groups,omitempty" doc:"Groups that approved users are added to, by ID or name. Replaces the existing list"`
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
	GetSignupPolicy = &Op[TenantPath, SignupPolicy]{Operation{
		ID: "get-signup-policy", Method: http.MethodGet, Path: signup, Summary: "Get a tenant's sign-up policy",
		Command: "signup show TENANT", Permission: ReadUsers,
		Doc: "Returns whether new users must be invited or approved.",
	}}
	UpdateSignupPolicy = &Op[SignupPolicyUpdate, SignupPolicy]{Operation{
		ID: "update-signup-policy", Method: http.MethodPatch, Path: signup, Permission: UpdateUsers,
		Summary: "Update a tenant's sign-up policy", Command: "signup update TENANT",
		Example: "signup update acme --invite-only",
		Doc:     "The change takes effect at the next sign-in. Existing users can still sign in.",
	}}
	ListApprovals = &Op[ApprovalList, List[Approval]]{Operation{
		ID: "list-approvals", Method: http.MethodGet, Path: approvals, Summary: "List a tenant's approvals",
		Command: "signup approvals list TENANT", Permission: ReadUsers,
		Doc: "Lists the approved email addresses and domains.",
	}}
	CreateApproval = &Op[ApprovalCreation, Approval]{Operation{
		ID: "create-approval", Method: http.MethodPost, Path: approvals, Status: http.StatusCreated,
		Summary: "Create an approval", Command: "signup approvals create TENANT VALUE", Permission: UpdateUsers,
		Example: "signup approvals create acme example.com --groups grp_01",
		Doc: "Approves one email address, or every address in a domain. The user's provider must have verified the " +
			"address. For an approval by domain, the provider must be authoritative for that domain.",
	}}
	GetApproval = &Op[ApprovalPath, Approval]{Operation{
		ID: "get-approval", Method: http.MethodGet, Path: approval, Summary: "Get an approval", Permission: ReadUsers,
		Command: "signup approvals show TENANT APPROVAL",
		Doc:     "Returns the email address or domain, and the groups that approved users are added to.",
	}}
	UpdateApproval = &Op[ApprovalUpdate, Approval]{Operation{
		ID: "update-approval", Method: http.MethodPatch, Path: approval, Summary: "Update an approval's groups",
		Command: "signup approvals update TENANT APPROVAL", Permission: UpdateUsers,
		Example: "signup approvals update acme apv_01 --groups grp_01 --groups grp_02",
		Doc:     "Users who have already signed in keep their groups.",
	}}
	DeleteApproval = &Op[ApprovalPath, None]{Operation{
		ID: "delete-approval", Method: http.MethodDelete, Path: approval, Status: http.StatusNoContent,
		Summary: "Delete an approval", Command: "signup approvals delete TENANT APPROVAL", Permission: UpdateUsers,
		Doc: "Users who have already signed in aren't affected.",
	}}
)

var signupOperations = []Described{
	GetSignupPolicy, UpdateSignupPolicy, ListApprovals, CreateApproval, GetApproval, UpdateApproval, DeleteApproval,
}
