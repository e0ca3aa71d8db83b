package pages

import (
	"github.com/gin-gonic/gin"

	"postern/handlers/page"
	"postern/handlers/pages/account"
	"postern/handlers/pages/audit"
	"postern/handlers/pages/calls"
	"postern/handlers/pages/exports"
	"postern/handlers/pages/keys"
	"postern/handlers/pages/login"
	"postern/handlers/pages/manual"
	"postern/handlers/pages/products"
	"postern/handlers/pages/projects"
	"postern/handlers/pages/search"
	"postern/handlers/pages/team"
	"postern/handlers/pages/tenants"
	"postern/handlers/pages/tokens"
	"postern/handlers/pages/webhooks"
	"postern/static"
)

// Mount mounts the dashboard. The routes of each family of pages are in the routes.go of its package.
func (h *Handler) Mount(r *gin.Engine) {
	assets := gin.WrapH(static.Handler())
	r.GET(static.Prefix+"*file", assets)
	r.HEAD(static.Prefix+"*file", assets)

	p := page.Router{Server: &page.Server{
		Web: h.Web, Accounts: h.Accounts, Idempotency: h.Idempotency, WithCode: h.withCode,
	}, Gin: r}
	(&webhooks.Handler{Webhooks: h.Webhooks}).Mount(p)
	(&tokens.Handler{Tokens: h.Tokens}).Mount(p)
	(&audit.Handler{Audit: h.Audit}).Mount(p)
	(&search.Handler{Directory: h.Directory, Keys: h.Keys, Projects: h.Projects}).Mount(p)
	(&manual.Handler{Document: h.Document, Web: h.Web}).Mount(p)
	(&account.Handler{Accounts: h.Accounts, Providers: h.Providers, Web: h.Web}).Mount(p)
	(&team.Handler{Accounts: h.Accounts, Web: h.Web}).Mount(p)
	(&products.Handler{Projects: h.Projects}).Mount(p)
	(&tenants.Handler{
		AppClients: h.AppClients, Directory: h.Directory, Login: h.Login, Projects: h.Projects, Usage: h.Usage,
	}).Mount(p)
	(&login.Handler{
		AppClients: h.AppClients, Diagnostics: h.Diagnostics, Login: h.Login, Projects: h.Projects, Web: h.Web,
	}).Mount(p)
	(&exports.Handler{
		Exports: h.Exports, Imports: h.Imports, Plans: h.Plans, Projects: h.Projects, Web: h.Web,
	}).Mount(p)
	(&keys.Handler{Keys: h.Keys, Projects: h.Projects, Web: h.Web}).Mount(p)
	(&calls.Handler{Projects: h.Projects, Usage: h.Usage, Web: h.Web}).Mount(p)
	(&projects.Handler{
		Accounts:    h.Accounts,
		Diagnostics: h.Diagnostics,
		Domains:     h.Domains,
		Exports:     h.Exports,
		Keys:        h.Keys,
		Projects:    h.Projects,
		Relations:   h.Relations,
		Usage:       h.Usage,
		Web:         h.Web,
	}).Mount(p)
	// Not SignedIn: it isn't a form, and changes nothing.
	p.Handle("POST", codePath, p.Server.RequireSession(h.showCode))
}
