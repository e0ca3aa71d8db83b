package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/directory"
)

// GroupRef is the path parameter of a group.
type GroupRef struct {
	Group string `path:"group" doc:"Id of the group"`
}

type groupOutput struct {
	ID          string    `json:"id"`
	Tenant      string    `json:"tenant" doc:"Id of the tenant"`
	Name        string    `json:"name" doc:"Name in rules and headers"`
	DisplayName string    `json:"display_name"`
	ExternalID  string    `json:"external_id,omitempty" doc:"Id in the provisioning system"`
	Members     int64     `json:"members" doc:"Number of direct members"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Children    []nested  `json:"children,omitempty" doc:"Nested groups, whose members are members too; not in lists"`
	Parents     []nested  `json:"parents,omitempty" doc:"Groups that directly contain it; not in lists"`
}

type nested struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
}

func showGroup(g directory.Group) groupOutput {
	return groupOutput{
		ID:          g.ID,
		Tenant:      g.Tenant,
		Name:        g.Name,
		DisplayName: g.DisplayName,
		ExternalID:  g.ExternalID,
		Members:     g.Members,
		CreatedAt:   g.CreatedAt.UTC(),
		UpdatedAt:   g.UpdatedAt.UTC(),
	}
}

func showNested(groups []directory.Group) []nested {
	var out []nested
	for _, g := range groups {
		out = append(out, nested{ID: g.ID, Name: g.Name, DisplayName: g.DisplayName})
	}
	return out
}

func answerGroup(g directory.GroupDetail, err error) (*tagged[groupOutput], error) {
	if err != nil {
		return nil, err
	}
	out := showGroup(g.Group)
	out.Children, out.Parents = showNested(g.Children), showNested(g.Parents)
	return &tagged[groupOutput]{web.FormatETag(g.ETag), out}, nil
}

func (h *Handler) listGroups(ctx context.Context, in *struct {
	TenantOf
	NamedPage
}) (*body[list[groupOutput]], error) {
	found, err := h.Directory.Groups(ctx, web.Principal(ctx), in.Tenant, in.page())
	return answerPage(found, err, showGroup)
}

func (h *Handler) createGroup(ctx context.Context, in *struct {
	TenantOf
	Body struct {
		Name        string  `json:"name" doc:"Name in rules and headers, for example admins"`
		DisplayName *string `json:"display_name,omitempty" doc:"Default: name"`
	}
}) (*tagged[groupOutput], error) {
	input := directory.GroupInput{Name: &in.Body.Name, DisplayName: in.Body.DisplayName}
	return answerGroup(h.Directory.CreateGroup(ctx, web.Principal(ctx), in.Tenant, input))
}

func (h *Handler) getGroup(ctx context.Context, in *GroupRef) (*tagged[groupOutput], error) {
	return answerGroup(h.Directory.Group(ctx, web.Principal(ctx), in.Group))
}

func (h *Handler) updateGroup(ctx context.Context, in *struct {
	GroupRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Name        *string `json:"name,omitempty" doc:"Rules that name the group must be changed too"`
		DisplayName *string `json:"display_name,omitempty"`
	}
}) (*tagged[groupOutput], error) {
	input := directory.GroupInput{Name: in.Body.Name, DisplayName: in.Body.DisplayName}
	return answerGroup(h.Directory.UpdateGroup(ctx, web.Principal(ctx), in.Group, web.ParseIfMatch(in.IfMatch), input))
}

func (h *Handler) deleteGroup(ctx context.Context, in *GroupRef) (*struct{}, error) {
	return nil, h.Directory.DeleteGroup(ctx, web.Principal(ctx), in.Group)
}

type groupMemberOutput struct {
	User  string    `json:"user" doc:"Id of the user"`
	Email string    `json:"email"`
	Name  string    `json:"name"`
	State string    `json:"state" enum:"active,frozen,invited"`
	Role  string    `json:"role" enum:"member,admin"`
	Since time.Time `json:"since"`
}

func (h *Handler) listGroupMembers(ctx context.Context, in *struct {
	GroupRef
	Page
	Sort string `query:"sort" enum:"name,-name,role,-role" doc:"Order; - begins at the end"`
	Text string `query:"q" maxLength:"200" doc:"Part of the e-mail address or the name, ignoring case"`
}) (*body[list[groupMemberOutput]], error) {
	found, err := h.Directory.Members(ctx, web.Principal(ctx), in.Group, in.sorted(in.Sort, in.Text))
	return answerPage(found, err, func(m directory.Member) groupMemberOutput {
		m.Since = m.Since.UTC()
		return groupMemberOutput(m)
	})
}

func (h *Handler) setGroupMember(ctx context.Context, in *struct {
	GroupRef
	UserRef
	Body struct {
		Role string `json:"role" enum:"member,admin" doc:"Rules can ask for admin"`
	}
}) (*tagged[groupOutput], error) {
	return answerGroup(h.Directory.SetMember(ctx, web.Principal(ctx), in.Group, in.User, in.Body.Role))
}

func (h *Handler) removeGroupMember(ctx context.Context, in *struct {
	GroupRef
	UserRef
}) (*struct{}, error) {
	return nil, h.Directory.RemoveMember(ctx, web.Principal(ctx), in.Group, in.User)
}

func (h *Handler) nestGroup(ctx context.Context, in *struct {
	GroupRef
	Child string `path:"child" doc:"Id of the nested group"`
}) (*tagged[groupOutput], error) {
	return answerGroup(h.Directory.Nest(ctx, web.Principal(ctx), in.Group, in.Child))
}

func (h *Handler) unnestGroup(ctx context.Context, in *struct {
	GroupRef
	Child string `path:"child" doc:"Id of the nested group"`
}) (*struct{}, error) {
	return nil, h.Directory.Unnest(ctx, web.Principal(ctx), in.Group, in.Child)
}
