package api

import (
	"context"
	"time"

	"postern/core/contract"
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

type clientKeysOutput struct {
	Keys []clientKeyOutput `json:"keys" doc:"Published keys, in the order in which they sign"`
}

type clientKeyOutput struct {
	ID             string     `json:"id" doc:"kid of its tokens"`
	Algorithm      string     `json:"algorithm"`
	SignsFrom      time.Time  `json:"signs_from"`
	PublishedUntil *time.Time `json:"published_until" doc:"null until a later key follows"`
}

func (h *Handler) rotateAppClientKey(ctx context.Context, in *ClientRef) (*body[clientKeysOutput], error) {
	keys, err := h.Login.RotateSigningKey(ctx, web.Principal(ctx), in.Client)
	if err != nil {
		return nil, err
	}
	out := clientKeysOutput{Keys: []clientKeyOutput{}}
	for _, k := range keys {
		out.Keys = append(out.Keys, clientKeyOutput{
			ID:             k.ID,
			Algorithm:      k.Algorithm,
			SignsFrom:      k.SignsFrom.UTC(),
			PublishedUntil: contract.UTC(k.PublishedUntil),
		})
	}
	return &body[clientKeysOutput]{out}, nil
}
