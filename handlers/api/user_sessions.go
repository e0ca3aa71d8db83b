package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/login"
)

type userSessionOutput struct {
	ID         string     `json:"id" doc:"sid of its tokens"`
	Client     string     `json:"client" doc:"Id of the app client"`
	ClientName string     `json:"client_name"`
	Provider   string     `json:"provider" doc:"Name of the provider; empty if it was removed"`
	Scopes     []string   `json:"scopes"`
	UserAgent  string     `json:"user_agent" doc:"User agent of the browser; empty if not known"`
	LastSeenAt *time.Time `json:"last_seen_at" doc:"Last use at the hosted pages; null: never"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
}

func showUserSession(s login.Session) userSessionOutput {
	return userSessionOutput{
		ID:         s.ID,
		Client:     s.Client,
		ClientName: s.ClientName,
		Provider:   s.Provider,
		Scopes:     s.Scopes,
		UserAgent:  s.UserAgent,
		LastSeenAt: contract.UTC(s.SeenAt),
		CreatedAt:  s.CreatedAt.UTC(),
		ExpiresAt:  s.ExpiresAt.UTC(),
	}
}

func (h *Handler) listUserSessions(ctx context.Context, in *struct {
	UserRef
	Page
	Sort string `query:"sort" enum:"created,-created,last_seen,-last_seen,expires,-expires" default:"-created"`
}) (*body[list[userSessionOutput]], error) {
	found, err := h.Login.Sessions(ctx, web.Principal(ctx), in.User, in.sorted(in.Sort, ""))
	return answerPage(found, err, showUserSession)
}

func (h *Handler) endUserSession(ctx context.Context, in *struct {
	UserRef
	Session string `path:"session" doc:"Id of the session"`
}) (*struct{}, error) {
	return nil, h.Login.EndSession(ctx, web.Principal(ctx), in.User, in.Session)
}

func (h *Handler) endUserSessions(ctx context.Context, in *UserRef) (*body[endedOutput], error) {
	ended, err := h.Login.EndSessions(ctx, web.Principal(ctx), in.User)
	if err != nil {
		return nil, err
	}
	return &body[endedOutput]{endedOutput{ended}}, nil
}

type consentOutput struct {
	Client     string    `json:"client" doc:"Id of the app client"`
	ClientName string    `json:"client_name"`
	Scopes     []string  `json:"scopes"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

func showConsent(c login.Consent) consentOutput {
	return consentOutput{
		Client:     c.Client,
		ClientName: c.ClientName,
		Scopes:     c.Scopes,
		CreatedAt:  c.CreatedAt.UTC(),
		UpdatedAt:  c.UpdatedAt.UTC(),
	}
}

func (h *Handler) listConsents(ctx context.Context, in *UserRef) (*body[list[consentOutput]], error) {
	found, err := h.Login.Consents(ctx, web.Principal(ctx), in.User)
	return answerPage(models.List[login.Consent]{Items: found}, err, showConsent)
}

func (h *Handler) withdrawConsent(ctx context.Context, in *struct {
	UserRef
	Client string `path:"client" doc:"Id of the app client"`
}) (*struct{}, error) {
	return nil, h.Login.WithdrawConsent(ctx, web.Principal(ctx), in.User, in.Client)
}
