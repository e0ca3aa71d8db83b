package handlers

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"postern/handlers/api"
	"postern/handlers/oidc"
	"postern/handlers/pages"
	"postern/handlers/scim"
	"postern/handlers/web"
)

// mount adds the probes and the routes of every surface, and answers addresses without a
// route.
func (s *Server) mount(r *gin.Engine) {
	users := &scim.Handler{Web: s.Site, Directory: s.Directory}
	r.NoRoute(func(c *gin.Context) {
		if !users.Refuse(c, web.NotFound()) {
			s.Refuse(c, web.NotFound())
		}
	})
	r.NoMethod(func(c *gin.Context) {
		if refusal := web.MethodNotAllowed(c.Request.Method); !users.Refuse(c, refusal) {
			s.WriteProblem(c.Writer, c.Request, refusal)
		}
	})
	for _, method := range []string{http.MethodGet, http.MethodHead} { // load balancers use either
		r.Handle(method, "/healthz", gin.WrapF(s.health))
		r.Handle(method, "/readyz", func(c *gin.Context) { s.readiness(c.Writer, c.Request, s.Ready, &s.unready) })
	}
	r.GET("/metrics", gin.WrapF(s.showMetrics))

	document, outline := (&api.Handler{
		Web:         s.Site,
		Version:     s.Version,
		Accounts:    s.Accounts,
		Audit:       s.Audit,
		Directory:   s.Directory,
		Domains:     s.Domains,
		Exports:     s.Exports,
		Idempotency: s.Idempotency,
		Imports:     s.Imports,
		Plans:       s.Plans,
		Keys:        s.Keys,
		AppClients:  s.AppClients,
		Login:       s.Login,
		Projects:    s.Projects,
		Relations:   s.Relations,
		Diagnostics: s.Diagnostics,
		Tokens:      s.Tokens,
		Usage:       s.Usage,
		Webhooks:    s.Webhooks,
	}).Mount(r)
	(&pages.Handler{
		Web:         s.Site,
		Providers:   s.Providers,
		Accounts:    s.Accounts,
		Audit:       s.Audit,
		Directory:   s.Directory,
		Domains:     s.Domains,
		Exports:     s.Exports,
		Idempotency: s.Idempotency,
		Imports:     s.Imports,
		Plans:       s.Plans,
		Keys:        s.Keys,
		AppClients:  s.AppClients,
		Login:       s.Login,
		Projects:    s.Projects,
		Relations:   s.Relations,
		Diagnostics: s.Diagnostics,
		Tokens:      s.Tokens,
		Usage:       s.Usage,
		Webhooks:    s.Webhooks,
		Document:    document,
		Outline:     outline,
	}).Mount(r)
	(&oidc.Handler{Web: s.Site, Login: s.Login, Users: s.Directory, Languages: s.Languages}).Mount(r)
	users.Mount(r)
}

// RouteList is the result of Routes.
type RouteList = gin.RoutesInfo

// Routes returns all routes, except HEAD where the route has GET too.
func (s *Server) Routes() RouteList {
	router := newRouter()
	s.mount(router)
	all := router.Routes()
	return slices.DeleteFunc(slices.Clone(all), func(r gin.RouteInfo) bool {
		return r.Method == http.MethodHead && slices.ContainsFunc(all, func(other gin.RouteInfo) bool {
			return other.Method == http.MethodGet && other.Path == r.Path
		})
	})
}
