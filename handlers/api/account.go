package api

import (
	"context"

	"postern/handlers/web"
	"postern/service/accounts"
)

type profileOutput struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Email       string `json:"email"`
	Unconfirmed string `json:"unconfirmed_email,omitempty" doc:"New address whose link has not been opened yet"`
}

func (h *Handler) updateAccount(ctx context.Context, in *struct {
	Body struct {
		Name     *string `json:"name,omitempty"`
		Email    *string `json:"email,omitempty" doc:"Where mail is sent, it counts once its link was opened"`
		Password string  `json:"password,omitempty" doc:"The account's password; needed for a new address"`
	}
}) (*body[profileOutput], error) {
	p := web.Principal(ctx)
	now, err := h.Accounts.UpdateProfile(ctx, p, accounts.ProfileChange{
		Name:     in.Body.Name,
		Email:    in.Body.Email,
		Password: in.Body.Password,
	})
	if err != nil {
		return nil, err
	}
	return &body[profileOutput]{profileOutput{
		ID:          p.Account,
		Name:        now.Name,
		Email:       now.Email,
		Unconfirmed: now.Unconfirmed,
	}}, nil
}
