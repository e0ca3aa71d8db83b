package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/accounts"
)

type invitationOutput struct {
	ID        string    `json:"id"`
	Team      string    `json:"team" doc:"Id of the team"`
	Role      string    `json:"role" enum:"owner,member,viewer"`
	Email     string    `json:"email" doc:"Required e-mail address of the account; empty: any account with the link"`
	CreatedBy string    `json:"created_by" doc:"Id of the inviting account"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url,omitempty" doc:"Link to send; returned only once, and not if it is mailed"`
	Code      string    `json:"code,omitempty" doc:"Code at the end of the link; returned only once, like url"`

	ByMail   bool       `json:"by_mail" doc:"The link is mailed to email, by an installation that sends mail"`
	MailedAt *time.Time `json:"mailed_at" doc:"null: not yet, or not by mail"`
}

func (h *Handler) showInvitation(i accounts.Invitation) invitationOutput {
	out := invitationOutput{
		ID:        i.ID,
		Team:      i.Team,
		Role:      string(i.Role),
		Email:     i.Email,
		CreatedBy: i.CreatedBy,
		Code:      i.Code,
		CreatedAt: i.CreatedAt.UTC(),
		ExpiresAt: i.ExpiresAt.UTC(),
		ByMail:    i.ByMail,
		MailedAt:  contract.UTC(i.MailedAt),
	}
	if i.Code != "" {
		out.URL = h.Web.InviteURL(i.Code)
	}
	return out
}

func (h *Handler) listInvitations(ctx context.Context, in *struct {
	TeamRef
	Page
	Sort string `query:"sort" enum:"created,-created,email,-email,role,-role,expires,-expires" default:"created"`
	Text string `query:"q" maxLength:"200" doc:"Part of the e-mail address, ignoring case"`
}) (*body[list[invitationOutput]], error) {
	found, err := h.Accounts.Invitations(ctx, web.Principal(ctx), in.Team, in.sorted(in.Sort, in.Text))
	return answerPage(found, err, h.showInvitation)
}

func (h *Handler) createInvitation(ctx context.Context, in *struct {
	TeamRef
	Body struct {
		Role  string `json:"role" doc:"owner, member or viewer"`
		Email string `json:"email,omitempty" minLength:"1" doc:"Address that the link is mailed to, or, where no mail is sent, that the account must have; default: any account with the link"`
	}
}) (*body[invitationOutput], error) {
	invitation, err := h.Accounts.Invite(ctx, web.Principal(ctx), in.Team, access.Role(in.Body.Role), in.Body.Email)
	if err != nil {
		return nil, err
	}
	return &body[invitationOutput]{h.showInvitation(invitation)}, nil
}

func (h *Handler) revokeInvitation(ctx context.Context, in *struct {
	TeamRef
	Invitation string `path:"invitation" doc:"Id of the invitation"`
}) (*struct{}, error) {
	return nil, h.Accounts.RevokeInvitation(ctx, web.Principal(ctx), in.Team, in.Invitation)
}

func (h *Handler) acceptInvitation(ctx context.Context, in *struct {
	Body struct {
		Code string `json:"code" doc:"Code at the end of the invitation's link"`
	}
}) (*tagged[teamOutput], error) {
	return taggedTeam(h.Accounts.Accept(ctx, web.Principal(ctx), in.Body.Code))
}
