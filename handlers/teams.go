package handlers

import (
	"context"
	"time"

	"postern/service/access"
	"postern/service/accounts"
)

// TeamRef is the path of everything below a team.
type TeamRef struct {
	Team string `path:"team" doc:"Id of the team"`
}

type teamOutput struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      string    `json:"role" enum:"owner,member,viewer,workspace" doc:"What the caller is in it; workspace for the key of an unclaimed one"`
	ETag      string    `json:"etag" doc:"For If-Match when the team is renamed"`
	CreatedAt time.Time `json:"created_at"`
}

func showTeam(t accounts.Team) teamOutput {
	return teamOutput{ID: t.ID, Name: t.Name, Role: string(t.Role), ETag: quoteTag(t.ETag), CreatedAt: t.CreatedAt.UTC()}
}

func taggedTeam(t accounts.Team, err error) (*tagged[teamOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[teamOutput]{quoteTag(t.ETag), showTeam(t)}, nil
}

func (s *Server) listTeams(ctx context.Context, in *struct{ Page }) (*body[list[teamOutput]], error) {
	teams, next, err := s.Accounts.Teams(ctx, principalOf(ctx), in.Cursor, in.Limit)
	return answerList(teams, next, err, showTeam)
}

// answerList shapes one page of a list.
func answerList[Item, Output any](items []Item, next string, err error, show func(Item) Output) (*body[list[Output]], error) {
	if err != nil {
		return nil, err
	}
	var out []Output
	for _, item := range items {
		out = append(out, show(item))
	}
	return &body[list[Output]]{listOf(out, next)}, nil
}

func (s *Server) createTeam(ctx context.Context, in *struct {
	Body struct {
		Name string `json:"name" doc:"1 to 80 characters"`
	}
}) (*tagged[teamOutput], error) {
	return taggedTeam(s.Accounts.CreateTeam(ctx, principalOf(ctx), in.Body.Name))
}

func (s *Server) getTeam(ctx context.Context, in *TeamRef) (*tagged[teamOutput], error) {
	return taggedTeam(s.Accounts.Team(ctx, principalOf(ctx), in.Team))
}

func (s *Server) renameTeam(ctx context.Context, in *struct {
	TeamRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Name string `json:"name" doc:"1 to 80 characters"`
	}
}) (*tagged[teamOutput], error) {
	return taggedTeam(s.Accounts.RenameTeam(ctx, principalOf(ctx), in.Team, unquoteTag(in.IfMatch), in.Body.Name))
}

func (s *Server) leaveTeam(ctx context.Context, in *TeamRef) (*struct{}, error) {
	return nil, s.Accounts.Leave(ctx, principalOf(ctx), in.Team)
}

// MemberRef is the path of one member of a team.
type MemberRef struct {
	TeamRef
	Account string `path:"account" doc:"Id of the account"`
}

type memberOutput struct {
	Account  string    `json:"account" doc:"Id of the account"`
	Name     string    `json:"name"`
	Email    string    `json:"email"`
	Role     string    `json:"role" enum:"owner,member,viewer"`
	ETag     string    `json:"etag" doc:"For If-Match when the role is changed"`
	JoinedAt time.Time `json:"joined_at"`
}

func showMember(m accounts.Member) memberOutput {
	return memberOutput{Account: m.Account, Name: m.Name, Email: m.Email, Role: string(m.Role), ETag: quoteTag(m.ETag), JoinedAt: m.JoinedAt.UTC()}
}

func (s *Server) listMembers(ctx context.Context, in *struct {
	TeamRef
	Page
}) (*body[list[memberOutput]], error) {
	members, next, err := s.Accounts.Members(ctx, principalOf(ctx), in.Team, in.Cursor, in.Limit)
	return answerList(members, next, err, showMember)
}

func (s *Server) changeRole(ctx context.Context, in *struct {
	MemberRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Role string `json:"role" doc:"owner, member or viewer"`
	}
}) (*tagged[memberOutput], error) {
	m, err := s.Accounts.ChangeRole(ctx, principalOf(ctx), in.Team, in.Account, unquoteTag(in.IfMatch), access.Role(in.Body.Role))
	if err != nil {
		return nil, err
	}
	return &tagged[memberOutput]{quoteTag(m.ETag), showMember(m)}, nil
}

func (s *Server) removeMember(ctx context.Context, in *MemberRef) (*struct{}, error) {
	return nil, s.Accounts.RemoveMember(ctx, principalOf(ctx), in.Team, in.Account)
}
