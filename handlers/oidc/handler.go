// Package oidc serves hosted login: an OpenID Connect issuer for each app client, and
// the pages on which people sign in to it.
//
// It owns the endpoints' parameters and answers. It leaves the protocol's decisions to
// service/login.
//
// Standards: OpenID Connect Core 1.0 and Discovery 1.0, OAuth 2.0 (RFC 6749), PKCE (RFC
// 7636), token revocation (RFC 7009) and introspection (RFC 7662), issuer identification (RFC
// 9207).
package oidc

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/login"
	pages "postern/views/login"
)

// Users does what end users may do in their tenant (directory.Service).
type Users interface {
	DeleteSelf(ctx context.Context, user string) error
	ManagedGroups(ctx context.Context, admin string) ([]contract.UserGroup, error)
	ManagedMembers(
		ctx context.Context, admin, group string, page models.Page,
	) (models.List[contract.GroupMember], error)
	SetManagedMember(ctx context.Context, admin, group, member, role string) (contract.GroupMember, error)
	RemoveManagedMember(ctx context.Context, admin, group, user string) error
}

// Handler serves the issuers of all app clients.
type Handler struct {
	Web   *web.Site
	Login *login.Service
	Users Users

	Languages *Languages // nil for the embedded ones
}

// Languages are the languages of the pages.
type Languages = pages.Languages

// LoadLanguages returns the embedded languages and those of the files in a directory, "" for
// none.
func LoadLanguages(dir string) (*Languages, error) {
	l, err := pages.LoadLanguages(dir)
	if err != nil {
		return nil, fmt.Errorf("oidc: languages of the pages: %w", err)
	}
	return l, nil
}
