package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// KeyRef is the path parameter of a key.
type KeyRef struct {
	Key string `path:"key" doc:"Id of the key"`
}

type keyOutput struct {
	ID           string     `json:"id"`
	Project      string     `json:"project" doc:"Id of the project it was created in"`
	Owner        string     `json:"owner"`
	KeyType      string     `json:"key_type"`
	Scopes       []string   `json:"scopes" doc:"Current scopes of the key type"`
	Tenant       string     `json:"tenant"`
	Product      *string    `json:"product" doc:"Product whose projects it opens; null: its own project only"`
	Environment  *string    `json:"environment" doc:"The environment it opens; null: all"`
	Description  string     `json:"description"`
	State        string     `json:"state" enum:"active,frozen,revoked,expired"`
	Limits       limits     `json:"limits" doc:"Own limits, calls by window; null: those of the key type"`
	Effective    limits     `json:"effective_limits" doc:"Limits in its own project; an absent window is unlimited"`
	LimitsFrom   string     `json:"limits_from" enum:"key,key_type,project,none" doc:"Source of effective_limits"`
	AllowedCIDRs []string   `json:"allowed_cidrs" doc:"Address ranges it may be used from; empty: any"`
	Prefix       string     `json:"prefix"`
	Last4        string     `json:"last4"`
	ETag         string     `json:"etag" doc:"Send as If-Match to update the key"`
	CreatedAt    time.Time  `json:"created_at"`
	ExpiresAt    *time.Time `json:"expires_at"`
	GraceEndsAt  *time.Time `json:"grace_ends_at" doc:"When the secret before the last rotation ends; null: none is valid"`
	LastUsedAt   *time.Time `json:"last_used_at" doc:"Last allowed call, accurate to a minute; null: never"`
	Key          string     `json:"key,omitempty" doc:"Plaintext; returned only once"`
}

func showKey(k keys.Key, plaintext string) keyOutput {
	out := keyOutput{
		ID:           k.ID,
		Project:      k.Project,
		Owner:        k.Owner,
		KeyType:      k.KeyType,
		Scopes:       k.Scopes,
		Tenant:       k.Tenant,
		Description:  k.Description,
		State:        k.State,
		Effective:    showLimits(k.Effective),
		LimitsFrom:   k.LimitsFrom,
		AllowedCIDRs: k.AllowedCIDRs,
		Prefix:       k.Prefix,
		Last4:        k.Last4,
		ETag:         web.FormatETag(k.ETag),
		CreatedAt:    k.CreatedAt.UTC(),
		ExpiresAt:    contract.UTC(k.ExpiresAt),
		GraceEndsAt:  contract.UTC(k.GraceEndsAt),
		LastUsedAt:   contract.UTC(k.LastUsedAt),
		Key:          plaintext,
	}
	if k.Limits != nil {
		out.Limits = showLimits(*k.Limits)
	}
	if k.Product != "" {
		out.Product = &k.Product
	}
	if k.Environment != "" {
		out.Environment = &k.Environment
	}
	return out
}

func taggedKey(k keys.Key, plaintext string, err error) (*tagged[keyOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[keyOutput]{web.FormatETag(k.ETag), showKey(k, plaintext)}, nil
}

func (h *Handler) listKeys(ctx context.Context, in *struct {
	ProjectRef
	Page
	Owner       string `query:"owner"`
	State       string `query:"state" enum:"active,frozen,revoked,expired"`
	Tenant      string `query:"tenant" doc:"Name"`
	KeyType     string `query:"key_type" doc:"Name"`
	Environment string `query:"environment" doc:"Environment that the keys open; all: keys that open all"`
	Text        string `query:"q" doc:"Part of prefix…last4 or of the description, ignoring case"`
	Sort        string `query:"sort" enum:"created,-created,owner,-owner,last_used,-last_used" default:"-created"`
}) (*body[list[keyOutput]], error) {
	page := in.page()
	if in.Sort != "-created" {
		page.Sort = models.ParseSort(in.Sort)
	}
	found, err := h.Keys.List(ctx, web.Principal(ctx), in.Project, keys.Filter{
		Owner:       in.Owner,
		State:       in.State,
		Tenant:      in.Tenant,
		KeyType:     in.KeyType,
		Environment: in.Environment,
		Text:        in.Text,
	}, page)
	return answerPage(found, err, func(k keys.Key) keyOutput { return showKey(k, "") })
}

func (h *Handler) createKey(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Owner        string     `json:"owner" doc:"Owner, for example billing-service"`
		KeyType      string     `json:"key_type,omitempty" minLength:"1" doc:"Default full"`
		Tenant       string     `json:"tenant,omitempty" minLength:"1" doc:"Name of a tenant of the project; default: default"`
		Product      string     `json:"product,omitempty" minLength:"1" doc:"The project's product: the key opens all its projects, with their scopes for the key type"`
		Environment  *string    `json:"environment,omitempty" minLength:"1" doc:"The only environment it opens; default: all"`
		Description  string     `json:"description,omitempty"`
		ExpiresAt    *time.Time `json:"expires_at,omitempty" doc:"RFC 3339; default: the key type's lifetime"`
		Limits       limits     `json:"limits,omitempty" doc:"Calls by window; default or null: the key type's; empty: unlimited"`
		AllowedCIDRs []string   `json:"allowed_cidrs,omitempty" doc:"Addresses and ranges it may be used from; default or empty: any"`
	}
}) (*tagged[keyOutput], error) {
	b := in.Body
	input := keys.CreateInput{
		Owner:        b.Owner,
		KeyType:      b.KeyType,
		Tenant:       b.Tenant,
		Product:      b.Product,
		Description:  b.Description,
		ExpiresAt:    b.ExpiresAt,
		Limits:       b.Limits,
		AllowedCIDRs: b.AllowedCIDRs,
	}
	if b.Environment != nil {
		if *b.Environment == "" {
			return nil, fault.InvalidField(
				"/environment", "invalid_environment",
				"Name an environment, or leave it out for a key that opens all.",
			)
		}
		input.Environment = *b.Environment
	}
	minted, err := h.Keys.Create(ctx, web.Principal(ctx), in.Project, input)
	return taggedKey(minted.Key, minted.Plaintext, err)
}

func (h *Handler) updateKey(ctx context.Context, in *struct {
	KeyRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Description  *string             `json:"description,omitempty"`
		Limits       nullable[limits]    `json:"limits,omitempty" doc:"Replaces the limits; {}: unlimited, null: those of the key type"`
		AllowedCIDRs *[]string           `json:"allowed_cidrs,omitempty" doc:"Replaces the ranges; []: any"`
		ExpiresAt    nullable[time.Time] `json:"expires_at,omitempty" doc:"RFC 3339; null: never"`
	}
}) (*tagged[keyOutput], error) {
	b := in.Body
	change := keys.Change{
		Description:  b.Description,
		AllowedCIDRs: b.AllowedCIDRs,
		ExpiresAt:    b.ExpiresAt.value,
		NeverExpires: b.ExpiresAt.sent,
	}
	if b.Limits.sent {
		change.Limits = new(map[string]int64)
		if b.Limits.value != nil {
			*change.Limits = *b.Limits.value
		}
	}
	k, err := h.Keys.Update(ctx, web.Principal(ctx), in.Key, web.ParseIfMatch(in.IfMatch), change)
	return taggedKey(k, "", err)
}

func (h *Handler) getKey(ctx context.Context, in *KeyRef) (*tagged[keyOutput], error) {
	return h.answerKey(ctx, in, h.Keys.Get)
}

func (h *Handler) freezeKey(ctx context.Context, in *KeyRef) (*tagged[keyOutput], error) {
	return h.answerKey(ctx, in, h.Keys.Freeze)
}

func (h *Handler) unfreezeKey(ctx context.Context, in *KeyRef) (*tagged[keyOutput], error) {
	return h.answerKey(ctx, in, h.Keys.Unfreeze)
}

func (h *Handler) revokeKey(ctx context.Context, in *KeyRef) (*tagged[keyOutput], error) {
	return h.answerKey(ctx, in, h.Keys.Revoke)
}

func (h *Handler) answerKey(
	ctx context.Context, in *KeyRef, rule func(context.Context, access.Principal, string) (keys.Key, error),
) (*tagged[keyOutput], error) {
	k, err := rule(ctx, web.Principal(ctx), in.Key)
	return taggedKey(k, "", err)
}

func (h *Handler) rotateKey(ctx context.Context, in *struct {
	KeyRef
	Body *struct {
		GraceSeconds *int64 `json:"grace_seconds,omitempty" doc:"How long the old secret stays valid; default 86400. A secret from an earlier rotation ends at once"`
	} `required:"false"`
}) (*tagged[keyOutput], error) {
	grace := keys.DefaultGrace
	if in.Body != nil && in.Body.GraceSeconds != nil {
		seconds := *in.Body.GraceSeconds
		if seconds < 0 || seconds > int64(keys.MaxGrace/time.Second) {
			seconds = -1 // out of range, and a product of it could wrap back into it
		}
		grace = time.Duration(seconds) * time.Second
	}
	minted, err := h.Keys.Rotate(ctx, web.Principal(ctx), in.Key, "", grace)
	return taggedKey(minted.Key, minted.Plaintext, err)
}
