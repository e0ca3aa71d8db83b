package handlers

import (
	"context"
	"time"

	"postern/access"
	"postern/fault"
	"postern/keys"
)

// KeyRef is the path of one key.
type KeyRef struct {
	Key string `path:"key" doc:"Id of the key"`
}

type keyOutput struct {
	ID          string     `json:"id"`
	Project     string     `json:"project" doc:"Id of the project"`
	Owner       string     `json:"owner"`
	KeyType     string     `json:"key_type"`
	Scopes      []string   `json:"scopes" doc:"Of the key type, as they are now"`
	Tenant      string     `json:"tenant"`
	Environment *string    `json:"environment" doc:"The one environment it opens; null opens all"`
	Description string     `json:"description"`
	State       string     `json:"state" enum:"active,frozen,revoked,expired"`
	Prefix      string     `json:"prefix"`
	Last4       string     `json:"last4"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at"`
	GraceEndsAt *time.Time `json:"grace_ends_at" doc:"Until when the secret before the last rotation works; null when none does"`
	LastUsedAt  *time.Time `json:"last_used_at" doc:"When a call was last let through with it, to within a minute; null for never"`
	Key         string     `json:"key,omitempty" doc:"The plaintext, shown this once"`
}

func showKey(k keys.Key, plaintext string) keyOutput {
	out := keyOutput{ID: k.ID, Project: k.Project, Owner: k.Owner, KeyType: k.KeyType, Scopes: k.Scopes, Tenant: k.Tenant,
		Description: k.Description, State: k.State, Prefix: k.Prefix, Last4: k.Last4, CreatedAt: k.CreatedAt.UTC(),
		ExpiresAt: utc(k.ExpiresAt), GraceEndsAt: utc(k.GraceEndsAt), LastUsedAt: utc(k.LastUsedAt), Key: plaintext}
	if k.Environment != "" {
		out.Environment = &k.Environment
	}
	return out
}

func (s *Server) listKeys(ctx context.Context, in *struct {
	ProjectRef
	Page
}) (*body[list[keyOutput]], error) {
	found, err := s.Keys.List(ctx, principalOf(ctx), in.Project, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []keyOutput
	for _, k := range found.Keys {
		items = append(items, showKey(k, ""))
	}
	return &body[list[keyOutput]]{listOf(items, found.Next)}, nil
}

func (s *Server) createKey(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Owner        string      `json:"owner" doc:"Whom the key belongs to, such as billing-service"`
		KeyType      string      `json:"key_type,omitempty" doc:"full when absent"`
		Environment  *string     `json:"environment,omitempty" doc:"Opens this environment only; absent or null opens all"`
		Description  string      `json:"description,omitempty"`
		ExpiresAt    *time.Time  `json:"expires_at,omitempty" doc:"RFC 3339; the key type's default lifetime when absent"`
		Tenant       unavailable `json:"tenant,omitempty"`
		Product      unavailable `json:"product,omitempty"`
		Limits       unavailable `json:"limits,omitempty"`
		AllowedCIDRs unavailable `json:"allowed_cidrs,omitempty"`
	}
}) (*body[keyOutput], error) {
	b := in.Body
	err := refuseUnavailable(map[string]unavailable{"/tenant": b.Tenant, "/product": b.Product, "/limits": b.Limits, "/allowed_cidrs": b.AllowedCIDRs})
	if err != nil {
		return nil, err
	}
	input := keys.CreateInput{Owner: b.Owner, KeyType: b.KeyType, Description: b.Description, ExpiresAt: b.ExpiresAt}
	if b.Environment != nil {
		if *b.Environment == "" {
			return nil, fault.InvalidField("/environment", "invalid_environment", "Name an environment, or leave it out for a key that opens all.")
		}
		input.Environment = *b.Environment
	}
	minted, err := s.Keys.Create(ctx, principalOf(ctx), in.Project, input)
	if err != nil {
		return nil, err
	}
	return &body[keyOutput]{showKey(minted.Key, minted.Plaintext)}, nil
}

func (s *Server) getKey(ctx context.Context, in *KeyRef) (*body[keyOutput], error) {
	return s.answerKey(ctx, in, s.Keys.Get)
}

func (s *Server) freezeKey(ctx context.Context, in *KeyRef) (*body[keyOutput], error) {
	return s.answerKey(ctx, in, s.Keys.Freeze)
}

func (s *Server) unfreezeKey(ctx context.Context, in *KeyRef) (*body[keyOutput], error) {
	return s.answerKey(ctx, in, s.Keys.Unfreeze)
}

func (s *Server) revokeKey(ctx context.Context, in *KeyRef) (*body[keyOutput], error) {
	return s.answerKey(ctx, in, s.Keys.Revoke)
}

func (s *Server) answerKey(ctx context.Context, in *KeyRef, rule func(context.Context, access.Principal, string) (keys.Key, error)) (*body[keyOutput], error) {
	k, err := rule(ctx, principalOf(ctx), in.Key)
	if err != nil {
		return nil, err
	}
	return &body[keyOutput]{showKey(k, "")}, nil
}

func (s *Server) rotateKey(ctx context.Context, in *struct {
	KeyRef
	Body *struct {
		GraceSeconds *int64 `json:"grace_seconds,omitempty" doc:"How long the old secret goes on working; 86400 when absent, 0 ends it at once"`
	} `required:"false"`
}) (*body[keyOutput], error) {
	grace := keys.DefaultGrace
	if in.Body != nil && in.Body.GraceSeconds != nil {
		seconds := *in.Body.GraceSeconds
		if seconds < 0 || seconds > int64(keys.MaxGrace/time.Second) {
			seconds = -1 // out of range, and a product of it could wrap back into it
		}
		grace = time.Duration(seconds) * time.Second
	}
	minted, err := s.Keys.Rotate(ctx, principalOf(ctx), in.Key, grace)
	if err != nil {
		return nil, err
	}
	return &body[keyOutput]{showKey(minted.Key, minted.Plaintext)}, nil
}
