// Package web is what every surface of the control plane's HTTP needs: sessions and
// other credentials, cookies, form nonces, problems (RFC 9457) as JSON or as a page,
// request ids, and the middleware in front of all routes.
//
// It owns how a caller is identified and how an error becomes a status code
// (problem.go). It leaves routes and bodies to the surfaces (handlers/api,
// handlers/pages, handlers/oidc, handlers/scim) and decisions to the services.
package web

import (
	"log/slog"

	"postern/platform/config"
	"postern/service/accounts"
	"postern/service/audit"
	"postern/service/tokens"
)

// Site is shared by all surfaces of one control plane.
type Site struct {
	Config   config.Config
	Accounts *accounts.Service
	Tokens   *tokens.Service
	Refusals *audit.Refusals
	Log      *slog.Logger
	Throttle OAuthThrottle

	outage outageLog
}

// MaxBody bounds the body of a request to the control plane, in bytes.
const MaxBody = 1 << 20
