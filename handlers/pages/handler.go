// Package pages serves the dashboard: pages for people with a session, and the forms on them.
//
// It mounts the packages below it, one for each family of pages, and owns the lines for a shell that pages and forms
// show as code. A family owns its routes, its forms, and the view models that it fills for views. A form that succeeds
// answers with a redirect; one that fails shows its page again with what was entered. Shared parts are in
// handlers/page.
package pages

import (
	"postern/handlers/web"
	"postern/service/accounts"
	"postern/service/accounts/federated"
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

// Handler serves the dashboard.
type Handler struct {
	Web         *web.Site
	Providers   []federated.Provider // that people can sign in with, in addition to a password
	Accounts    *accounts.Service
	Audit       *audit.Service
	Directory   *directory.Service
	Domains     *domains.Service
	Exports     *exports.Service
	Imports     *imports.Service
	Plans       *movein.Plans
	Idempotency *idempotency.Service
	Keys        *keys.Service
	AppClients  *appclients.Service
	Login       *login.Service
	Projects    *projects.Service
	Relations   *relations.Service
	Diagnostics *diagnostics.Service
	Tokens      *tokens.Service
	Usage       *usage.Service
	Webhooks    *webhooks.Service
	Document    func() ([]byte, error) // returns the OpenAPI document of the JSON API
	Outline     func() ([]byte, error) // returns it without parameters, answers and schemas

	code codeWriter
}
