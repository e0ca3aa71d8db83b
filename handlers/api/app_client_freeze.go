package api

import (
	"context"

	"postern/handlers/web"
)

func (h *Handler) freezeAppClient(ctx context.Context, in *ClientRef) (*tagged[clientOutput], error) {
	frozen, err := h.Login.FreezeClient(ctx, web.Principal(ctx), in.Client)
	if err != nil {
		return nil, err
	}
	return h.taggedClient(frozen, ""), nil
}

func (h *Handler) unfreezeAppClient(ctx context.Context, in *ClientRef) (*tagged[clientOutput], error) {
	unfrozen, err := h.Login.UnfreezeClient(ctx, web.Principal(ctx), in.Client)
	if err != nil {
		return nil, err
	}
	return h.taggedClient(unfrozen, ""), nil
}
