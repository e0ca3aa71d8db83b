package api

import (
	"context"

	"postern/handlers/web"
	"postern/service/projects"
)

// KeyTypeRef is the path parameter of a key type.
type KeyTypeRef struct {
	ProjectRef
	KeyType string `path:"key_type" doc:"Name or id"`
}

type keyTypeOutput struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	ExpiresIn int64    `json:"expires_in,omitempty" doc:"Default lifetime of a key of this type, in seconds; absent: unlimited"`
	Limits    limits   `json:"limits" doc:"Limits of each key without limits of its own"`
	BuiltIn   bool     `json:"built_in"`
	ETag      string   `json:"etag" doc:"Send as If-Match to update the key type"`

	Warnings []warningOutput `json:"warnings,omitempty" doc:"In responses to changes: which rules refuse keys of the type"`
}

func showKeyType(t projects.KeyType) keyTypeOutput {
	return keyTypeOutput{
		ID:        t.ID,
		Name:      t.Name,
		Scopes:    t.Scopes,
		ExpiresIn: t.ExpiresIn,
		Limits:    showLimits(t.Limits),
		BuiltIn:   t.BuiltIn,
		ETag:      web.FormatETag(t.ETag),
		Warnings:  showWarnings(t.Warnings),
	}
}

func taggedKeyType(t projects.KeyType, err error) (*tagged[keyTypeOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[keyTypeOutput]{web.FormatETag(t.ETag), showKeyType(t)}, nil
}

// listKeyTypes returns all key types in one page: a project has few.
func (h *Handler) listKeyTypes(ctx context.Context, in *ProjectRef) (*body[list[keyTypeOutput]], error) {
	types, err := h.Projects.KeyTypes(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	var items []keyTypeOutput
	for _, t := range types {
		items = append(items, showKeyType(t))
	}
	return &body[list[keyTypeOutput]]{listOf(items, "")}, nil
}

func (h *Handler) createKeyType(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Name      string   `json:"name"`
		Scopes    []string `json:"scopes" doc:"For example read or orders:*; * for all"`
		ExpiresIn int64    `json:"expires_in,omitempty" doc:"Default lifetime of a key of this type, in seconds"`
		Limits    limits   `json:"limits,omitempty" doc:"Limits of each key without limits of its own"`
	}
}) (*tagged[keyTypeOutput], error) {
	b := in.Body
	return taggedKeyType(h.Projects.CreateKeyType(ctx, web.Principal(ctx), in.Project,
		projects.KeyType{Name: b.Name, Scopes: b.Scopes, ExpiresIn: b.ExpiresIn, Limits: b.Limits}))
}

func (h *Handler) updateKeyType(ctx context.Context, in *struct {
	KeyTypeRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Scopes    *[]string        `json:"scopes,omitempty" doc:"Applies to all keys of the type at once"`
		ExpiresIn nullable[int64]  `json:"expires_in,omitempty" doc:"In seconds, for new keys; null: unlimited"`
		Limits    nullable[limits] `json:"limits,omitempty" doc:"Replaces the limits of keys without limits of their own; {} or null: none"`
	}
}) (*tagged[keyTypeOutput], error) {
	change := projects.KeyTypeChange{
		Scopes:    in.Body.Scopes,
		ExpiresIn: in.Body.ExpiresIn.value,
		Limits:    sentLimits(in.Body.Limits),
	}
	if in.Body.ExpiresIn.sent && change.ExpiresIn == nil {
		change.ExpiresIn = new(int64)
	}
	return taggedKeyType(
		h.Projects.UpdateKeyType(ctx, web.Principal(ctx), in.Project, in.KeyType, web.ParseIfMatch(in.IfMatch), change),
	)
}

func (h *Handler) deleteKeyType(ctx context.Context, in *struct {
	KeyTypeRef
	IfMatch string `header:"If-Match"`
}) (*struct{}, error) {
	return nil, h.Projects.DeleteKeyType(ctx, web.Principal(ctx), in.Project, in.KeyType, web.ParseIfMatch(in.IfMatch))
}
