package api

import (
	"context"

	"postern/core/contract"
	"postern/service/access"
)

func (h *Handler) whoami(ctx context.Context, p access.Principal, _ contract.None) (contract.Whoami, error) {
	var none contract.Whoami
	teams, err := h.Accounts.CallerTeams(ctx, p)
	if err != nil {
		return none, err
	}
	out := contract.Whoami{Teams: teams}
	if p.Account != "" {
		profile, err := h.Accounts.ProfileOf(ctx, p.Account)
		if err != nil {
			return none, err
		}
		out.Account = &profile.Account
	}
	out.Token, err = h.Tokens.Current(ctx, p)
	return out, err
}
