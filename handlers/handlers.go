// Package handlers puts together the control plane's HTTP, on Gin: each surface has a
// package (api, pages, oidc, scim), and web is what they share.
//
// It owns the order of the middleware, the probes and /metrics.
package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/handlers/api"
	"postern/handlers/oidc"
	"postern/handlers/web"
	"postern/service/accounts/provider"
	"postern/service/audit"
	"postern/service/directory"
	"postern/service/exports"
	"postern/service/idempotency"
	"postern/service/keys"
	"postern/service/login"
	"postern/service/projects"
	"postern/service/usage"
	"postern/service/webhooks"
)

// Server is the control plane's HTTP.
type Server struct {
	*web.Site
	Version      string
	Providers    []provider.Provider // that people can sign in with beside a password
	Projects     *projects.Service
	Keys         *keys.Service
	Exports      *exports.Service
	Usage        *usage.Service
	Webhooks     *webhooks.Service
	Idempotency  *idempotency.Service
	Audit        *audit.Service
	Login        *login.Service
	Directory    *directory.Service
	Metrics      http.Handler // for clients that may read them
	Attached     func() bool  // reports whether the database can be used; until then all but probes are answered 503
	Ready        Readiness    // of the control plane
	GatewayReady Readiness    // of the gateway, which can serve while the database is away
}

// Handler builds the control plane's handler. It panics on a route that is
// described wrongly, which a test that builds it finds.
func (s *Server) Handler() http.Handler {
	api.SetFrameworks()
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.RedirectTrailingSlash = false
	router.ForwardedByClientIP = false
	router.Use(s.RecordRoute)
	s.mount(router)
	protection := http.NewCrossOriginProtection()
	for _, pattern := range oidc.CrossOriginRoutes {
		protection.AddInsecureBypassPattern(pattern)
	}
	protection.SetDenyHandler(http.HandlerFunc(s.RefuseCrossOrigin))
	return web.StallTimeout(
		web.DefaultStallTimeout,
		s.ClientAddress(
			s.Observe(s.SecureHeaders(s.AllowHosts(s.whileAttached(protection.Handler(s.RequireValidText(router)))))),
		),
	)
}
