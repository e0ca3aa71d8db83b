package api

import (
	"context"

	"postern/handlers/web"
)

type accountDeletionOutput struct {
	Email        string   `json:"email"`
	Teams        []string `json:"teams" doc:"Names of the teams that the account leaves"`
	OnlyOwner    []string `json:"only_owner" doc:"Names of the teams that would have no owner left; while there are any, the account cannot be deleted"`
	LastOperator bool     `json:"last_operator" doc:"It is the only operator of the installation, and cannot be deleted"`
	Password     bool     `json:"password" doc:"The password is needed; otherwise a session that began within five minutes"`
}

func (h *Handler) getAccountDeletion(ctx context.Context, _ *struct{}) (*body[accountDeletionOutput], error) {
	d, err := h.Accounts.AccountDeletion(ctx, web.Principal(ctx))
	if err != nil {
		return nil, err
	}
	return &body[accountDeletionOutput]{accountDeletionOutput{
		Email:        d.Email,
		Teams:        orNone(d.Teams),
		OnlyOwner:    orNone(d.OnlyOwner),
		LastOperator: d.LastOperator,
		Password:     d.Password,
	}}, nil
}

func (h *Handler) deleteAccount(ctx context.Context, in *struct {
	Body struct {
		Confirm  string `json:"confirm" doc:"The account's e-mail address"`
		Password string `json:"password,omitempty"`
	}
}) (*struct{}, error) {
	return nil, h.Accounts.DeleteAccount(ctx, web.Principal(ctx), in.Body.Confirm, in.Body.Password)
}
