// Package handlers speaks HTTP for the control plane: the JSON API, POST /proxy
// and the dashboard's pages, on Gin, the API typed by huma.
//
// It owns routes, request and response shapes, credentials on the wire and the
// one translation of errors to status codes (problem.go, RFC 9457). It does not
// own rules: each handler parses its input once, calls one rule and shapes the
// answer.
package handlers

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/platform/config"
	"postern/service/accounts"
	"postern/service/accounts/provider"
	"postern/service/audit"
	"postern/service/directory"
	"postern/service/exports"
	"postern/service/idempotency"
	"postern/service/keys"
	"postern/service/login"
	"postern/service/projects"
	"postern/service/tokens"
	"postern/service/usage"
	"postern/service/webhooks"
)

// Server is what the routes work with.
type Server struct {
	Config       config.Config
	Version      string
	Accounts     *accounts.Service
	Providers    []provider.Provider // the providers that people can sign in with
	Projects     *projects.Service
	Keys         *keys.Service
	Exports      *exports.Service
	Usage        *usage.Service
	Webhooks     *webhooks.Service
	Idempotency  *idempotency.Service
	Tokens       *tokens.Service
	Audit        *audit.Service
	Refusals     *audit.Refusals
	Login        *login.Service
	Directory    *directory.Service
	Metrics      http.Handler // for clients that may read them
	Attached     func() bool  // reports whether the database can be used; until then all but probes are answered 503
	Ready        Readiness    // of the control plane
	GatewayReady Readiness    // of the gateway, which can serve while the database is away
	Log          *slog.Logger

	oauthTries oauthThrottle
	outage     outage
}

// maxBody bounds what a request to the control plane may send, in bytes.
const maxBody = 1 << 20

// Handler builds the control plane's handler. It panics on a route that is
// described wrongly, which a test that builds it finds.
func (s *Server) Handler() http.Handler {
	setFrameworks()
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.RedirectTrailingSlash = false
	router.ForwardedByClientIP = false
	router.Use(s.noteRoute)
	s.routes(router)
	protection := http.NewCrossOriginProtection()
	for _, pattern := range fromAnywhere {
		protection.AddInsecureBypassPattern(pattern)
	}
	protection.SetDenyHandler(http.HandlerFunc(s.refuseCrossOrigin))
	return patiently(
		patience,
		s.calledFor(s.observe(s.secureHeaders(s.answersFor(s.whileAttached(protection.Handler(s.textOnly(router))))))),
	)
}
