package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/tokens"
)

func Principal(ctx context.Context) access.Principal {
	p, _ := ctx.Value(principalKey).(access.Principal)
	return p
}

// Identify finds out who is asking. A credential that is sent and wrong is
// refused even where none is needed: going on as somebody else would surprise.
func (s *Site) Identify(c *gin.Context) {
	p, err := s.Authenticate(c.Request)
	if err != nil {
		s.Refuse(c, err)
		return
	}
	c.Request = WithPrincipal(c.Request, p)
	c.Next()
}

// RequireCredential refuses callers without a credential, before anything they have sent is
// looked at. POST /proxy and the description of the API are for anybody.
func (s *Site) RequireCredential(c *gin.Context) {
	if p := Principal(c.Request.Context()); p.Anonymous() && strings.HasPrefix(c.FullPath(), "/api/") {
		s.Refuse(c, access.Check(p, "", access.ProjectRead))
		return
	}
	c.Next()
}

// WithPrincipal says on whose behalf a request is made.
func WithPrincipal(r *http.Request, p access.Principal) *http.Request {
	p.RemoteAddr, p.RequestID = r.RemoteAddr, RequestID(r.Context())
	auditOf(r.Context()).principal = p
	return r.WithContext(context.WithValue(r.Context(), principalKey, p))
}

// CredentialOf is the secret that the caller is known by, "" for nobody's.
func (s *Site) CredentialOf(r *http.Request) string {
	if _, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		return strings.TrimSpace(token)
	}
	return s.Sessions().Read(r)
}

func (s *Site) Authenticate(r *http.Request) (access.Principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return access.Principal{}, fault.New(
				fault.Unauthenticated, "invalid_token",
				"Send an access token or a workspace key as Authorization: Bearer …",
			)
		}
		return s.byBearer(r.Context(), strings.TrimSpace(token))
	}
	if session := s.Sessions().Read(r); session != "" {
		return s.Accounts.BySession(r.Context(), session)
	}
	return access.Principal{}, nil
}

func (s *Site) byBearer(ctx context.Context, token string) (access.Principal, error) {
	if tokens.IsToken(token) {
		return s.Tokens.ByToken(ctx, token)
	}
	return s.Accounts.ByWorkspaceKey(ctx, token)
}

// Refuse ends a request with a problem, or a page about it.
func (s *Site) Refuse(c *gin.Context, err error) {
	s.LogCause(c.Request.Context(), err)
	c.Abort()
	s.WriteProblem(c.Writer, c.Request, err)
}

// LogCause writes the cause of a failure that the answer does not name. An outage
// of the database fails every request alike, and is logged once a second.
func (s *Site) LogCause(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case models.Unavailable(err):
		if failed := s.outage.admit(time.Now()); failed > 0 {
			s.Log.Error("the database does not answer", "requests", failed, "request", RequestID(ctx), "error", err)
		}
	case fault.KindOf(err) == fault.Internal:
		s.Log.Error("a request failed", "request", RequestID(ctx), "error", err)
	}
}

// outage counts the requests that failed since the last line in the log.
type outageLog struct {
	mu     sync.Mutex
	logged time.Time
	failed int
}

// admit returns how many requests a line stands for that may be logged now, 0 for
// none.
func (o *outageLog) admit(now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed++
	if now.Sub(o.logged) < time.Second {
		return 0
	}
	failed := o.failed
	o.logged, o.failed = now, 0
	return failed
}
