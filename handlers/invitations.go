package handlers

import (
	"context"
	"time"

	"postern/service/access"
	"postern/service/accounts"
)

type invitationOutput struct {
	ID        string    `json:"id"`
	Team      string    `json:"team" doc:"Id of the team"`
	Role      string    `json:"role" enum:"owner,member,viewer"`
	Email     string    `json:"email" doc:"Address that the account must have; empty for whoever has the link"`
	CreatedBy string    `json:"created_by" doc:"Id of the account that invites"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url,omitempty" doc:"The link to send, shown this once"`
	Code      string    `json:"code,omitempty" doc:"What the link ends with, shown this once"`
}

func (s *Server) showInvitation(i accounts.Invitation) invitationOutput {
	out := invitationOutput{ID: i.ID, Team: i.Team, Role: string(i.Role), Email: i.Email, CreatedBy: i.CreatedBy, Code: i.Code,
		CreatedAt: i.CreatedAt.UTC(), ExpiresAt: i.ExpiresAt.UTC()}
	if i.Code != "" {
		out.URL = s.inviteURL(i.Code)
	}
	return out
}

func (s *Server) listInvitations(ctx context.Context, in *struct {
	TeamRef
	Page
}) (*body[list[invitationOutput]], error) {
	invitations, next, err := s.Accounts.Invitations(ctx, principalOf(ctx), in.Team, in.Cursor, in.Limit)
	return answerList(invitations, next, err, s.showInvitation)
}

func (s *Server) createInvitation(ctx context.Context, in *struct {
	TeamRef
	Body struct {
		Role  string `json:"role" doc:"owner, member or viewer"`
		Email string `json:"email,omitempty" doc:"Address that the account must have; absent for whoever has the link"`
	}
}) (*body[invitationOutput], error) {
	invitation, err := s.Accounts.Invite(ctx, principalOf(ctx), in.Team, access.Role(in.Body.Role), in.Body.Email)
	if err != nil {
		return nil, err
	}
	return &body[invitationOutput]{s.showInvitation(invitation)}, nil
}

func (s *Server) revokeInvitation(ctx context.Context, in *struct {
	TeamRef
	Invitation string `path:"invitation" doc:"Id of the invitation"`
}) (*struct{}, error) {
	return nil, s.Accounts.RevokeInvitation(ctx, principalOf(ctx), in.Team, in.Invitation)
}

func (s *Server) acceptInvitation(ctx context.Context, in *struct {
	Body struct {
		Code string `json:"code" doc:"What the link of the invitation ends with"`
	}
}) (*tagged[teamOutput], error) {
	return taggedTeam(s.Accounts.Accept(ctx, principalOf(ctx), in.Body.Code))
}
