package api

import (
	"context"

	"postern/core/contract"
	"postern/handlers/web"
)

func (h *Handler) testProvider(ctx context.Context, in *contract.ProviderPath) (*body[contract.Diagnosis], error) {
	found, err := h.Diagnostics.Provider(ctx, web.Principal(ctx), in.Provider)
	if err != nil {
		return nil, err
	}
	return &body[contract.Diagnosis]{found}, nil
}
