package handlers

import (
	"context"
	"time"

	"postern/service/access"
	"postern/service/directory"
)

// GroupRef is the path of one group.
type GroupRef struct {
	Group string `path:"group" doc:"Id of the group"`
}

type groupOutput struct {
	ID          string    `json:"id"`
	Tenant      string    `json:"tenant" doc:"Id of the tenant"`
	Name        string    `json:"name" doc:"What rules and headers call it"`
	DisplayName string    `json:"display_name"`
	ExternalID  string    `json:"external_id,omitempty" doc:"A provisioning system's own id of it"`
	Members     int64     `json:"members" doc:"How many users are in it directly"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Children    []nested  `json:"children,omitempty" doc:"Groups in it directly: their members are its members; not in lists"`
	Parents     []nested  `json:"parents,omitempty" doc:"Groups that it is in directly; not in lists"`
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
	return &tagged[groupOutput]{quoteTag(access.ETag(g.UpdatedAt)), out}, nil
}

func (s *Server) listGroups(ctx context.Context, in *struct {
	TenantOf
	Page
}) (*body[list[groupOutput]], error) {
	page, err := s.Directory.Groups(ctx, principalOf(ctx), in.Tenant, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []groupOutput
	for _, g := range page.Groups {
		items = append(items, showGroup(g))
	}
	return &body[list[groupOutput]]{listOf(items, page.Next)}, nil
}

func (s *Server) createGroup(ctx context.Context, in *struct {
	TenantOf
	Body struct {
		Name        string  `json:"name" doc:"What rules and headers call it, such as admins"`
		DisplayName *string `json:"display_name,omitempty" doc:"The name when absent"`
	}
}) (*tagged[groupOutput], error) {
	input := directory.GroupInput{Name: &in.Body.Name, DisplayName: in.Body.DisplayName}
	return answerGroup(s.Directory.CreateGroup(ctx, principalOf(ctx), in.Tenant, input))
}

func (s *Server) getGroup(ctx context.Context, in *GroupRef) (*tagged[groupOutput], error) {
	return answerGroup(s.Directory.Group(ctx, principalOf(ctx), in.Group))
}

func (s *Server) updateGroup(ctx context.Context, in *struct {
	GroupRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Name        *string `json:"name,omitempty" doc:"Rules that name the group have to be changed too"`
		DisplayName *string `json:"display_name,omitempty"`
	}
}) (*tagged[groupOutput], error) {
	input := directory.GroupInput{Name: in.Body.Name, DisplayName: in.Body.DisplayName}
	return answerGroup(s.Directory.UpdateGroup(ctx, principalOf(ctx), in.Group, unquoteTag(in.IfMatch), input))
}

func (s *Server) deleteGroup(ctx context.Context, in *GroupRef) (*struct{}, error) {
	return nil, s.Directory.DeleteGroup(ctx, principalOf(ctx), in.Group)
}

type groupMemberOutput struct {
	User  string    `json:"user" doc:"Id of the user"`
	Email string    `json:"email"`
	Name  string    `json:"name"`
	State string    `json:"state" enum:"active,frozen,invited"`
	Role  string    `json:"role" enum:"member,admin"`
	Since time.Time `json:"since"`
}

func (s *Server) listGroupMembers(ctx context.Context, in *struct {
	GroupRef
	Page
}) (*body[list[groupMemberOutput]], error) {
	page, err := s.Directory.Members(ctx, principalOf(ctx), in.Group, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []groupMemberOutput
	for _, m := range page.Members {
		m.Since = m.Since.UTC()
		items = append(items, groupMemberOutput(m))
	}
	return &body[list[groupMemberOutput]]{listOf(items, page.Next)}, nil
}

func (s *Server) setGroupMember(ctx context.Context, in *struct {
	GroupRef
	UserRef
	Body *struct {
		Role string `json:"role,omitempty" enum:"member,admin" doc:"member when absent; admin is not available yet and answered 422 not_available_yet"`
	} `required:"false"`
}) (*tagged[groupOutput], error) {
	role := directory.RoleMember
	if in.Body != nil && in.Body.Role != "" {
		role = in.Body.Role
	}
	return answerGroup(s.Directory.SetMember(ctx, principalOf(ctx), in.Group, in.User, role))
}

func (s *Server) removeGroupMember(ctx context.Context, in *struct {
	GroupRef
	UserRef
}) (*struct{}, error) {
	return nil, s.Directory.RemoveMember(ctx, principalOf(ctx), in.Group, in.User)
}

func (s *Server) nestGroup(ctx context.Context, in *struct {
	GroupRef
	Child string `path:"child" doc:"Id of the group that is put into it"`
}) (*tagged[groupOutput], error) {
	return answerGroup(s.Directory.Nest(ctx, principalOf(ctx), in.Group, in.Child))
}

func (s *Server) unnestGroup(ctx context.Context, in *struct {
	GroupRef
	Child string `path:"child" doc:"Id of the group that is taken out of it"`
}) (*struct{}, error) {
	return nil, s.Directory.Unnest(ctx, principalOf(ctx), in.Group, in.Child)
}
