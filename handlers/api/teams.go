package api

import (
	"context"

	"postern/core/contract"
	"postern/service/access"
)

// invite is accounts.Service.Invite, with the link to send.
func (h *Handler) invite(
	ctx context.Context, p access.Principal, in contract.InvitationCreation,
) (contract.InvitationWithLink, error) {
	made, err := h.Accounts.Invite(ctx, p, in)
	if made.Code != "" {
		made.URL = contract.Secret(h.Web.InviteURL(made.Code.Reveal()))
	}
	return made, err
}
