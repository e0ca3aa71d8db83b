package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/platform/fault"
	"postern/service/access"
	"postern/service/tokens"
)

// Principal returns the caller of the request that ctx belongs to. It is anonymous
// before WithPrincipal.
func Principal(ctx context.Context) access.Principal {
	p, _ := ctx.Value(principalKey).(access.Principal)
	return p
}

// WithPrincipal returns the request with its caller.
func WithPrincipal(r *http.Request, p access.Principal) *http.Request {
	p.RemoteAddr, p.RequestID = r.RemoteAddr, RequestID(r.Context())
	auditOf(r.Context()).principal = p
	return r.WithContext(context.WithValue(r.Context(), principalKey, p))
}

// Identify is the middleware that authenticates the caller. It refuses an invalid
// credential even on routes that need none, rather than go on as an anonymous caller.
func (s *Site) Identify(c *gin.Context) {
	p, err := s.Authenticate(c.Request)
	if err != nil {
		s.Refuse(c, err)
		return
	}
	c.Request = WithPrincipal(c.Request, p)
	c.Next()
}

// RequireCredential refuses callers of /api/ without a credential, before their input is
// read. POST /proxy and the OpenAPI description are public.
func (s *Site) RequireCredential(c *gin.Context) {
	if p := Principal(c.Request.Context()); p.Anonymous() && strings.HasPrefix(c.FullPath(), "/api/") {
		s.Refuse(c, access.Check(p, "", access.ProjectRead))
		return
	}
	c.Next()
}

// CredentialOf returns the secret that the caller presents: the bearer token, else the
// session's, else "".
func (s *Site) CredentialOf(r *http.Request) string {
	if _, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		return strings.TrimSpace(token)
	}
	return s.Sessions().Read(r)
}

// Authenticate returns the principal of a request's bearer token or session, or an
// anonymous one. Its error for an invalid bearer token is invalid_token.
func (s *Site) Authenticate(r *http.Request) (access.Principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return access.Principal{}, fault.New(fault.Unauthenticated, "invalid_token",
				"Send an access token or a workspace key in the Authorization header: Bearer …")
		}
		return s.byBearer(r, strings.TrimSpace(token))
	}
	if session := s.Sessions().Read(r); session != "" {
		return s.Accounts.BySession(r.Context(), session)
	}
	return access.Principal{}, nil
}

func (s *Site) byBearer(r *http.Request, token string) (access.Principal, error) {
	if tokens.IsToken(token) {
		return s.Tokens.ByToken(r.Context(), token, r.RemoteAddr)
	}
	return s.Accounts.ByWorkspaceKey(r.Context(), token)
}
