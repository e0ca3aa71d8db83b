// Package handlers assembles the control plane's HTTP server on Gin from its surfaces
// (api, pages, oidc, scim), which share package web.
//
// It owns the order of the middleware, the probes and /metrics. It leaves routes to the
// surfaces.
package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"postern/handlers/api"
	"postern/handlers/oidc"
	"postern/handlers/web"
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
	"postern/service/usage"
	"postern/service/webhooks"
)

// Server has the dependencies of the control plane's HTTP.
type Server struct {
	*web.Site
	Version     string
	Providers   []federated.Provider // of federated sign-in to the dashboard
	Projects    *projects.Service
	Relations   *relations.Service
	Diagnostics *diagnostics.Service
	Keys        *keys.Service
	Exports     *exports.Service
	Usage       *usage.Service
	Webhooks    *webhooks.Service
	Idempotency *idempotency.Service
	Imports     *imports.Service
	Plans       *movein.Plans
	Audit       *audit.Service
	AppClients  *appclients.Service
	Login       *login.Service
	Languages   *oidc.Languages // of the hosted login's pages; nil for the embedded ones
	Directory   *directory.Service
	Domains     *domains.Service
	Metrics     http.Handler // serves /metrics to callers that may read them

	Attached     func() bool // reports whether the database can be used
	Ready        Readiness   // of the control plane
	GatewayReady Readiness   // of the gateway, which can serve while the database is away
	Roles        string      // of this process, for /readyz

	unready, gatewayUnready atomic.Bool // since the last probe
}

// Handler returns the control plane's HTTP handler. It panics if a route is declared
// wrongly, which every test that calls it finds.
func (s *Server) Handler() http.Handler {
	router := newRouter()
	router.HandleMethodNotAllowed = true
	router.RedirectTrailingSlash = false
	router.ForwardedByClientIP = false
	router.Use(s.RecordRoute)
	s.mount(router)
	return s.withMiddleware(router)
}

func newRouter() *gin.Engine {
	api.SetFrameworks()
	return gin.New()
}

// withMiddleware returns next behind the middleware of all routes. The first of the list
// is the outermost: it sees a request first, and its answer last.
func (s *Server) withMiddleware(next http.Handler) http.Handler {
	chain := []func(http.Handler) http.Handler{
		stallTimeout,        // outermost: everything below writes through its deadlines
		s.Trace,             // before what changes the address that connected
		s.ClientAddress,     // before all that logs, throttles or audits an address
		s.Observe,           // request id, log line and audit of every answer below, panics too
		s.SecureHeaders,     // on every answer below, errors too; bounds the body
		s.AllowHosts,        // no request under another host name goes further (DNS rebinding)
		s.whileAttached,     // nothing below works without the database
		s.refuseCrossOrigin, // before a handler looks at a cookie (CSRF)
		s.RequireValidText,  // handlers may store any parameter
	}
	for i := len(chain) - 1; i >= 0; i-- {
		next = chain[i](next)
	}
	return next
}

func stallTimeout(next http.Handler) http.Handler {
	return web.StallTimeout(web.DefaultStallTimeout, next)
}

// refuseCrossOrigin refuses writes that browsers send from other sites, except to the
// endpoints that other sites may call.
func (s *Server) refuseCrossOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	for _, pattern := range slices.Concat(oidc.CrossOriginRoutes, web.CallbackRoutes) {
		protection.AddInsecureBypassPattern(pattern)
	}
	protection.SetDenyHandler(http.HandlerFunc(s.RefuseCrossOrigin))
	protected := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isFromPublicURL(r, s.Config.PublicURL) {
			next.ServeHTTP(w, r)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// isFromPublicURL reports whether a browser sends a request from a page of the public URL. A proxy may rewrite Host,
// with which Origin would be compared otherwise. If the browser says more, in Sec-Fetch-Site, that counts.
func isFromPublicURL(r *http.Request, publicURL string) bool {
	public, err := url.Parse(publicURL)
	return err == nil && public.Scheme == "https" && r.Header.Get("Sec-Fetch-Site") == "" &&
		r.Header.Get("Origin") == "https://"+strings.TrimSuffix(strings.ToLower(public.Host), ":443")
}
