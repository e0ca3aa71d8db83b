package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/federation"
	"postern/service/directory"
)

// TenantOf is the path parameter of the tenant that users, groups and app clients belong to.
type TenantOf struct {
	Tenant string `path:"tenant" doc:"Id of the tenant, or name of a tenant of a team"`
}

// UserRef is the path parameter of a user.
type UserRef struct {
	User string `path:"user" doc:"Id of the user"`
}

type userOutput struct {
	ID            string              `json:"id"`
	Tenant        string              `json:"tenant" doc:"Id of the tenant"`
	Email         string              `json:"email" doc:"Empty if the provider returns none"`
	EmailVerified bool                `json:"email_verified" doc:"A provider has verified it"`
	Name          string              `json:"name"`
	Profile       *federation.Profile `json:"profile,omitempty" doc:"Claims that a provider stated at the last sign-in"`
	UserName      string              `json:"user_name,omitempty" doc:"userName in the provisioning system (SCIM)"`
	ExternalID    string              `json:"external_id,omitempty" doc:"Id in the provisioning system"`
	State         string              `json:"state" enum:"active,frozen,invited" doc:"invited: has not signed in yet"`
	LastLoginAt   *time.Time          `json:"last_login_at" doc:"null: never"`
	CreatedAt     time.Time           `json:"created_at"`
	UpdatedAt     time.Time           `json:"updated_at"`
	Identities    []identityOutput    `json:"identities,omitempty" doc:"Identities at providers; not in lists"`
	Groups        []membershipOutput  `json:"groups,omitempty" doc:"Direct and nested memberships; not in lists"`
}

type identityOutput struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Since   time.Time `json:"since"`
}

type membershipOutput struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	DisplayName string  `json:"display_name"`
	Role        *string `json:"role" doc:"member or admin; null for a nested membership"`
}

func showUser(u directory.User) userOutput {
	out := userOutput{
		ID:            u.ID,
		Tenant:        u.Tenant,
		Email:         u.Email,
		EmailVerified: u.EmailVerified,
		Name:          u.Name,
		UserName:      u.UserName,
		ExternalID:    u.ExternalID,
		State:         u.State,
		LastLoginAt:   contract.UTC(u.LastLoginAt),
		CreatedAt:     u.CreatedAt.UTC(),
		UpdatedAt:     u.UpdatedAt.UTC(),
	}
	if u.Profile != (federation.Profile{}) {
		out.Profile = &u.Profile
	}
	return out
}

func answerUser(p directory.Profile, err error) (*tagged[userOutput], error) {
	if err != nil {
		return nil, err
	}
	out := showUser(p.User)
	for _, one := range p.Identities {
		out.Identities = append(out.Identities, identityOutput{
			Issuer:  one.Issuer,
			Subject: one.Subject,
			Since:   one.Since.UTC(),
		})
	}
	for _, g := range p.Groups {
		shown := membershipOutput{ID: g.Group, Name: g.Name, DisplayName: g.DisplayName}
		if g.Role != "" {
			shown.Role = &g.Role
		}
		out.Groups = append(out.Groups, shown)
	}
	return &tagged[userOutput]{web.FormatETag(p.ETag), out}, nil
}

func (h *Handler) listUsers(ctx context.Context, in *struct {
	TenantOf
	Page
	State string `query:"state" enum:"active,frozen,invited"`
	Email string `query:"email" doc:"Complete e-mail address"`
	Query string `query:"q" doc:"Part of the e-mail address, name or user name"`
	Group string `query:"group" doc:"Id of a group with the user as direct member"`

	Sort string `query:"sort" enum:"name,-name,state,-state,last_login,-last_login,created,-created" default:"-created"`
}) (*body[list[userOutput]], error) {
	page := in.page()
	if in.Sort != "-created" {
		page.Sort = models.ParseSort(in.Sort)
	}
	filter := models.UserFilter{State: in.State, Email: in.Email, Query: in.Query, Group: in.Group}
	found, err := h.Directory.Users(ctx, web.Principal(ctx), in.Tenant, filter, page)
	return answerPage(found, err, showUser)
}

func (h *Handler) createUser(ctx context.Context, in *struct {
	TenantOf
	Body struct {
		Email  string   `json:"email" doc:"A sign-in with this address at a provider that is authoritative for its domain becomes this user; at any other, the user needs an invitation link"`
		Name   string   `json:"name,omitempty"`
		Groups []string `json:"groups,omitempty" doc:"Ids of groups to add the user to"`
	}
}) (*tagged[userOutput], error) {
	b := in.Body
	return answerUser(h.Directory.CreateUser(ctx, web.Principal(ctx), in.Tenant, directory.NewUser{
		Email:  b.Email,
		Name:   b.Name,
		Groups: b.Groups,
	}))
}

func (h *Handler) getUser(ctx context.Context, in *UserRef) (*tagged[userOutput], error) {
	return answerUser(h.Directory.User(ctx, web.Principal(ctx), in.User))
}

func (h *Handler) updateUser(ctx context.Context, in *struct {
	UserRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Email *string `json:"email,omitempty" doc:"Not verified until a provider verifies it"`
		Name  *string `json:"name,omitempty"`
	}
}) (*tagged[userOutput], error) {
	change := directory.UserChange{Email: in.Body.Email, Name: in.Body.Name}
	return answerUser(h.Directory.UpdateUser(ctx, web.Principal(ctx), in.User, web.ParseIfMatch(in.IfMatch), change))
}

func (h *Handler) freezeUser(ctx context.Context, in *UserRef) (*tagged[userOutput], error) {
	return answerUser(h.Directory.Freeze(ctx, web.Principal(ctx), in.User))
}

func (h *Handler) unfreezeUser(ctx context.Context, in *UserRef) (*tagged[userOutput], error) {
	return answerUser(h.Directory.Unfreeze(ctx, web.Principal(ctx), in.User))
}

type userInvitationOutput struct {
	URL       string    `json:"url" doc:"Link to send; returned only once"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (h *Handler) createUserInvitation(ctx context.Context, in *struct {
	UserRef
	Body struct {
		AppClient string `json:"app_client,omitempty" minLength:"1" doc:"Id of the app client at which the user signs in; default: the tenant's only one"`
	}
}) (*body[userInvitationOutput], error) {
	made, err := h.Login.InviteUser(ctx, web.Principal(ctx), in.User, in.Body.AppClient)
	if err != nil {
		return nil, err
	}
	return &body[userInvitationOutput]{userInvitationOutput{made.URL, made.ExpiresAt.UTC()}}, nil
}

func (h *Handler) deleteUser(ctx context.Context, in *UserRef) (*struct{}, error) {
	return nil, h.Directory.DeleteUser(ctx, web.Principal(ctx), in.User)
}

type approvalOutput struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" enum:"email,domain"`
	Value     string    `json:"value"`
	Groups    []string  `json:"groups" doc:"Ids of groups of users approved by it"`
	CreatedAt time.Time `json:"created_at"`
}

func showApproval(a directory.Approval) approvalOutput {
	return approvalOutput{ID: a.ID, Kind: a.Kind, Value: a.Value, Groups: a.Groups, CreatedAt: a.CreatedAt.UTC()}
}

func (h *Handler) listApprovals(ctx context.Context, in *struct {
	TenantOf
	Page
	Sort string `query:"sort" enum:"created,-created,value,-value" default:"created"`
	Text string `query:"q" maxLength:"200" doc:"Part of the address or domain, ignoring case"`
}) (*body[list[approvalOutput]], error) {
	found, err := h.Directory.Approvals(ctx, web.Principal(ctx), in.Tenant, in.sorted(in.Sort, in.Text))
	return answerPage(found, err, showApproval)
}

func (h *Handler) createApproval(ctx context.Context, in *struct {
	TenantOf
	Body struct {
		Kind   string   `json:"kind" enum:"email,domain"`
		Value  string   `json:"value" doc:"E-mail address, or domain without its subdomains"`
		Groups []string `json:"groups,omitempty" doc:"Ids of groups of users approved by it"`
	}
}) (*body[approvalOutput], error) {
	made, err := h.Directory.Approve(ctx, web.Principal(ctx), in.Tenant, directory.NewApproval(in.Body))
	if err != nil {
		return nil, err
	}
	return &body[approvalOutput]{showApproval(made)}, nil
}

func (h *Handler) deleteApproval(ctx context.Context, in *struct {
	TenantOf
	Approval string `path:"approval" doc:"Id of the approval"`
}) (*struct{}, error) {
	return nil, h.Directory.Disapprove(ctx, web.Principal(ctx), in.Tenant, in.Approval)
}

type entryOutput struct {
	InviteOnly bool `json:"invite_only" doc:"New users must be invited or approved; existing users may still sign in"`
}

func (h *Handler) getEntry(ctx context.Context, in *TenantOf) (*body[entryOutput], error) {
	entry, err := h.Directory.Entry(ctx, web.Principal(ctx), in.Tenant)
	if err != nil {
		return nil, err
	}
	return &body[entryOutput]{entryOutput{entry.InviteOnly}}, nil
}

func (h *Handler) setEntry(ctx context.Context, in *struct {
	TenantOf
	Body entryOutput
}) (*body[entryOutput], error) {
	err := h.Directory.SetInviteOnly(ctx, web.Principal(ctx), in.Tenant, in.Body.InviteOnly)
	if err != nil {
		return nil, err
	}
	return &body[entryOutput]{in.Body}, nil
}
