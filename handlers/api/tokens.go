package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/accounts"
	"postern/service/tokens"
)

type tokenOutput struct {
	ID           string     `json:"id"`
	Kind         string     `json:"kind" enum:"personal,cli,workspace"`
	Name         string     `json:"name"`
	Scopes       []string   `json:"scopes" doc:"Empty for a workspace key, which has all scopes in its workspace"`
	Last4        string     `json:"last4"`
	CreatedAt    time.Time  `json:"created_at"`
	ExpiresAt    *time.Time `json:"expires_at"`
	LastUsedAt   *time.Time `json:"last_used_at" doc:"Accurate to a minute; null: never, or a workspace key"`
	LastUsedFrom string     `json:"last_used_from" doc:"IP address of the client then; empty: not known"`
	Current      bool       `json:"current" doc:"True for the credential of this request"`
	Token        string     `json:"token,omitempty" doc:"Plaintext; returned only once"`
}

func showToken(t tokens.Token, plaintext string) tokenOutput {
	out := tokenOutput{
		ID:           t.ID,
		Kind:         t.Kind,
		Name:         t.Name,
		Scopes:       []string{},
		Last4:        t.Last4,
		CreatedAt:    t.CreatedAt.UTC(),
		ExpiresAt:    contract.UTC(t.ExpiresAt),
		LastUsedAt:   contract.UTC(t.LastUsedAt),
		LastUsedFrom: t.LastUsedFrom,
		Current:      t.Current,
		Token:        plaintext,
	}
	for _, scope := range t.Scopes {
		out.Scopes = append(out.Scopes, string(scope))
	}
	return out
}

func (h *Handler) listTokens(ctx context.Context, in *struct {
	Page
	Sort string `query:"sort" enum:"created,-created,name,-name,expires,-expires,last_used,-last_used"`
	Text string `query:"q" maxLength:"200" doc:"Part of the name, ignoring case"`
}) (*body[list[tokenOutput]], error) {
	found, err := h.Tokens.List(ctx, web.Principal(ctx), in.sorted(in.Sort, in.Text))
	return answerPage(found, err, func(t tokens.Token) tokenOutput { return showToken(t, "") })
}

func (h *Handler) createToken(ctx context.Context, in *struct {
	Body struct {
		Name      string     `json:"name" doc:"Purpose, 1 to 80 characters"`
		Scopes    []string   `json:"scopes" doc:"read, write, keys, export, users or admin; of the creating token's at most"`
		ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"RFC 3339, within a year; default: in 90 days"`
	}
}) (*body[tokenOutput], error) {
	minted, err := h.Tokens.Create(ctx, web.Principal(ctx), tokens.New{
		Name:      in.Body.Name,
		Scopes:    in.Body.Scopes,
		ExpiresAt: in.Body.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	return &body[tokenOutput]{showToken(minted.Token, minted.Plaintext)}, nil
}

func (h *Handler) revokeToken(ctx context.Context, in *struct {
	Token string `path:"token" doc:"Id of the token"`
}) (*struct{}, error) {
	return nil, h.Tokens.Revoke(ctx, web.Principal(ctx), in.Token)
}

type whoamiOutput struct {
	Account *accountOutput `json:"account" doc:"null for a workspace key"`
	Teams   []seatOutput   `json:"teams" doc:"Teams of the credential; new projects go into the first"`
	Token   *tokenOutput   `json:"token" doc:"null for a session"`
}

type accountOutput struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

type seatOutput struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role string `json:"role" enum:"owner,member,viewer,workspace"`
}

func (h *Handler) whoami(ctx context.Context, _ *struct{}) (*body[whoamiOutput], error) {
	p := web.Principal(ctx)
	seats, err := h.Accounts.CallerTeams(ctx, p)
	if err != nil {
		return nil, err
	}
	out := whoamiOutput{Teams: showSeats(seats)}
	if p.Account != "" {
		profile, err := h.Accounts.ProfileOf(ctx, p.Account)
		if err != nil {
			return nil, err
		}
		out.Account = &accountOutput{ID: p.Account, Name: profile.Name, Email: profile.Email}
	}
	current, ok, err := h.Tokens.Current(ctx, p)
	if err != nil {
		return nil, err
	}
	if ok {
		shown := showToken(current, "")
		out.Token = &shown
	}
	return &body[whoamiOutput]{out}, nil
}

func showSeats(seats []accounts.Team) []seatOutput {
	out := []seatOutput{}
	for _, seat := range seats {
		out = append(out, seatOutput{ID: seat.ID, Name: seat.Name, Role: string(seat.Role)})
	}
	return out
}
