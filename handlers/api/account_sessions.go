package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/accounts"
)

type sessionOutput struct {
	ID         string    `json:"id"`
	UserAgent  string    `json:"user_agent" doc:"User agent of the browser"`
	RemoteAddr string    `json:"remote_addr" doc:"IP address of the sign-in"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at" doc:"Accurate to five minutes"`
	Current    bool      `json:"current" doc:"True for the credential of this request"`
}

func showSession(s accounts.Session) sessionOutput {
	return sessionOutput{
		ID:         s.ID,
		UserAgent:  s.UserAgent,
		RemoteAddr: s.RemoteAddr,
		CreatedAt:  s.CreatedAt.UTC(),
		LastSeenAt: s.SeenAt.UTC(),
		Current:    s.Current,
	}
}

func (h *Handler) listSessions(ctx context.Context, in *struct {
	Sort string `query:"sort" enum:"created,-created,last_seen,-last_seen" default:"-created"`
}) (*body[list[sessionOutput]], error) {
	found, err := h.Accounts.Sessions(ctx, web.Principal(ctx), models.ParseSort(in.Sort))
	return answerPage(models.List[accounts.Session]{Items: found}, err, showSession)
}

func (h *Handler) endSession(ctx context.Context, in *struct {
	Session string `path:"session" doc:"Id of the session"`
}) (*struct{}, error) {
	return nil, h.Accounts.EndSession(ctx, web.Principal(ctx), in.Session)
}

func (h *Handler) endOtherSessions(ctx context.Context, _ *struct{}) (*body[contract.EndedSessions], error) {
	ended, err := h.Accounts.EndOtherSessions(ctx, web.Principal(ctx))
	if err != nil {
		return nil, err
	}
	return &body[contract.EndedSessions]{contract.EndedSessions{Ended: ended}}, nil
}
