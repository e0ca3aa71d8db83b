// Package api serves the JSON API, POST /proxy and its OpenAPI description, typed by
// huma, and the device authorization of command lines (RFC 8628).
//
// It owns paths, bodies and their validation by schema, ETags, and Idempotency-Key. It
// leaves credentials and problems to handlers/web and every decision to the services:
// a handler parses its input once, calls one method and shapes the answer.
package api

import (
	"postern/handlers/web"
	"postern/service/accounts"
	"postern/service/appclients"
	"postern/service/audit"
	"postern/service/diagnostics"
	"postern/service/directory"
	"postern/service/domains"
	"postern/service/exports"
	"postern/service/idempotency"
	"postern/service/imports"
	"postern/service/keys"
	"postern/service/login"
	"postern/service/movein"
	"postern/service/projects"
	"postern/service/relations"
	"postern/service/tokens"
	"postern/service/usage"
	"postern/service/webhooks"
)

// Handler serves the JSON API.
type Handler struct {
	Web         *web.Site
	Version     string // of the program, for the OpenAPI description
	Accounts    *accounts.Service
	Audit       *audit.Service
	Directory   *directory.Service
	Domains     *domains.Service
	Exports     *exports.Service
	Idempotency *idempotency.Service
	Imports     *imports.Service
	Plans       *movein.Plans
	Keys        *keys.Service
	AppClients  *appclients.Service
	Login       *login.Service
	Projects    *projects.Service
	Relations   *relations.Service
	Diagnostics *diagnostics.Service
	Tokens      *tokens.Service
	Usage       *usage.Service
	Webhooks    *webhooks.Service
}
