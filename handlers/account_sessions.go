package handlers

import (
	"context"
	"time"

	"postern/service/accounts"
)

type sessionOutput struct {
	ID         string    `json:"id"`
	UserAgent  string    `json:"user_agent" doc:"What the browser calls itself"`
	RemoteAddr string    `json:"remote_addr" doc:"Where it signed in from"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at" doc:"To within five minutes"`
	Current    bool      `json:"current" doc:"Whether it is the one that asks"`
}

func showSession(s accounts.Session) sessionOutput {
	return sessionOutput{ID: s.ID, UserAgent: s.UserAgent, RemoteAddr: s.RemoteAddr, CreatedAt: s.CreatedAt.UTC(), LastSeenAt: s.SeenAt.UTC(), Current: s.Current}
}

func (s *Server) listSessions(ctx context.Context, _ *struct{}) (*body[list[sessionOutput]], error) {
	found, err := s.Accounts.Sessions(ctx, principalOf(ctx))
	return answerList(found, "", err, showSession)
}

func (s *Server) endSession(ctx context.Context, in *struct {
	Session string `path:"session" doc:"Id of the session"`
}) (*struct{}, error) {
	return nil, s.Accounts.EndSession(ctx, principalOf(ctx), in.Session)
}

type endedOutput struct {
	Ended int64 `json:"ended" doc:"How many sessions that were"`
}

func (s *Server) endOtherSessions(ctx context.Context, _ *struct{}) (*body[endedOutput], error) {
	ended, err := s.Accounts.EndOtherSessions(ctx, principalOf(ctx))
	if err != nil {
		return nil, err
	}
	return &body[endedOutput]{endedOutput{ended}}, nil
}
