package api

import (
	"context"

	"postern/core/contract"
	"postern/service/access"
)

func (h *Handler) whoami(ctx context.Context, p access.Principal, _ contract.None) (contract.Whoami, error) {
	var none contract.Whoami
	seats, err := h.Accounts.CallerTeams(ctx, p)
	if err != nil {
		return none, err
	}
	out := contract.Whoami{Teams: []contract.Membership{}}
	for _, seat := range seats {
		out.Teams = append(out.Teams, contract.Membership{ID: seat.ID, Name: seat.Name, Role: string(seat.Role)})
	}
	if p.Account != "" {
		profile, err := h.Accounts.ProfileOf(ctx, p.Account)
		if err != nil {
			return none, err
		}
		out.Account = &contract.Account{ID: p.Account, Name: profile.Name, Email: profile.Email}
	}
	out.Token, err = h.Tokens.Current(ctx, p)
	return out, err
}
