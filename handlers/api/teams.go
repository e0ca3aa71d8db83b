package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/access"
	"postern/service/accounts"
)

// TeamRef is the path parameter of a team.
type TeamRef struct {
	Team string `path:"team" doc:"Id of the team"`
}

type teamOutput struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      string    `json:"role" enum:"owner,member,viewer,workspace" doc:"Role of the caller; workspace for the key of an unclaimed workspace"`
	ETag      string    `json:"etag" doc:"Send as If-Match to rename the team"`
	CreatedAt time.Time `json:"created_at"`
}

func showTeam(t accounts.Team) teamOutput {
	return teamOutput{
		ID:        t.ID,
		Name:      t.Name,
		Role:      string(t.Role),
		ETag:      web.FormatETag(t.ETag),
		CreatedAt: t.CreatedAt.UTC(),
	}
}

func taggedTeam(t accounts.Team, err error) (*tagged[teamOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[teamOutput]{web.FormatETag(t.ETag), showTeam(t)}, nil
}

func (h *Handler) listTeams(ctx context.Context, in *struct {
	Page
	Sort string `query:"sort" enum:"created,-created,name,-name" default:"created"`
	Text string `query:"q" maxLength:"200" doc:"Part of the name, ignoring case"`
}) (*body[list[teamOutput]], error) {
	found, err := h.Accounts.Teams(ctx, web.Principal(ctx), in.sorted(in.Sort, in.Text))
	return answerPage(found, err, showTeam)
}

func (h *Handler) createTeam(ctx context.Context, in *struct {
	Body struct {
		Name string `json:"name" doc:"1 to 80 characters"`
	}
}) (*tagged[teamOutput], error) {
	return taggedTeam(h.Accounts.CreateTeam(ctx, web.Principal(ctx), in.Body.Name))
}

func (h *Handler) getTeam(ctx context.Context, in *TeamRef) (*tagged[teamOutput], error) {
	return taggedTeam(h.Accounts.Team(ctx, web.Principal(ctx), in.Team))
}

func (h *Handler) renameTeam(ctx context.Context, in *struct {
	TeamRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Name string `json:"name" doc:"1 to 80 characters"`
	}
}) (*tagged[teamOutput], error) {
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedTeam(h.Accounts.RenameTeam(ctx, web.Principal(ctx), in.Team, etag, in.Body.Name))
}

func (h *Handler) leaveTeam(ctx context.Context, in *TeamRef) (*struct{}, error) {
	return nil, h.Accounts.Leave(ctx, web.Principal(ctx), in.Team)
}

// MemberRef are the path parameters of a member.
type MemberRef struct {
	TeamRef
	Account string `path:"account" doc:"Id of the account"`
}

type memberOutput struct {
	Account  string    `json:"account" doc:"Id of the account"`
	Name     string    `json:"name"`
	Email    string    `json:"email"`
	Role     string    `json:"role" enum:"owner,member,viewer"`
	ETag     string    `json:"etag" doc:"Send as If-Match to change the role"`
	JoinedAt time.Time `json:"joined_at"`
}

func showMember(m accounts.Member) memberOutput {
	return memberOutput{
		Account:  m.Account,
		Name:     m.Name,
		Email:    m.Email,
		Role:     string(m.Role),
		ETag:     web.FormatETag(m.ETag),
		JoinedAt: m.JoinedAt.UTC(),
	}
}

func (h *Handler) listMembers(ctx context.Context, in *struct {
	TeamRef
	Page
	Sort string `query:"sort" enum:"joined,-joined,name,-name,role,-role" doc:"Order; - begins at the end"`
	Text string `query:"q" maxLength:"200" doc:"Part of the e-mail address or the name, ignoring case"`
}) (*body[list[memberOutput]], error) {
	found, err := h.Accounts.Members(ctx, web.Principal(ctx), in.Team, in.sorted(in.Sort, in.Text))
	return answerPage(found, err, showMember)
}

func (h *Handler) changeRole(ctx context.Context, in *struct {
	MemberRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Role string `json:"role" doc:"owner, member or viewer"`
	}
}) (*tagged[memberOutput], error) {
	m, err := h.Accounts.ChangeRole(
		ctx, web.Principal(ctx), in.Team, in.Account, web.ParseIfMatch(in.IfMatch), access.Role(in.Body.Role),
	)
	if err != nil {
		return nil, err
	}
	return &tagged[memberOutput]{web.FormatETag(m.ETag), showMember(m)}, nil
}

func (h *Handler) removeMember(ctx context.Context, in *MemberRef) (*struct{}, error) {
	return nil, h.Accounts.RemoveMember(ctx, web.Principal(ctx), in.Team, in.Account)
}
