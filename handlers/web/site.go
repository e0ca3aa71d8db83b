// Package web has the code that the control plane's surfaces share: the middleware of all routes, credentials and
// sessions, cookies, form nonces, and errors as JSON (RFC 9457) or as a page.
//
// It owns how a caller is authenticated and how an error becomes a status code
// (problem.go). It leaves routes and bodies to the surfaces (handlers/api,
// handlers/pages, handlers/oidc, handlers/scim) and decisions to the services.
package web

import (
	"log/slog"
	"time"

	"postern/core/openapi"
	"postern/platform/config"
	"postern/platform/traces"
	"postern/service/accounts"
	"postern/service/audit"
	"postern/service/tokens"
)

// Site has the dependencies that all surfaces of one control plane share.
type Site struct {
	Config   config.Config
	Accounts *accounts.Service // for sessions and workspace keys
	Tokens   *tokens.Service   // for access tokens
	Refusals *audit.Refusals   // where refused requests are audited
	Log      *slog.Logger
	// Measure is called after each request except probes and streams; nil: requests aren't measured.
	Measure  func(surface string, status int, took time.Duration)
	Traces   *traces.Tracer // nil: nothing is traced
	Throttle OAuthThrottle

	uploads  uploads
	keyFiles uploads
}

// MaxBody bounds the body of a request to the control plane, in bytes.
const MaxBody = 1 << 20

// Bounds on larger bodies, in bytes.
const (
	MaxDocument = openapi.MaxSize + MaxBody // an OpenAPI document of a version
	MaxFile     = 5<<20 + MaxBody           // POST /proxy, which anyone may send, and a file of relations
)
