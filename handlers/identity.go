package handlers

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

func principalOf(ctx context.Context) access.Principal {
	p, _ := ctx.Value(principalKey).(access.Principal)
	return p
}

// identify finds out who is asking. A credential that is sent and wrong is
// refused even where none is needed: going on as somebody else would surprise.
func (s *Server) identify(c *gin.Context) {
	p, err := s.principal(c.Request)
	if err != nil {
		s.refuse(c, err)
		return
	}
	c.Request = withPrincipal(c.Request, p)
	c.Next()
}

// knows refuses callers without a credential, before anything they have sent is
// looked at. POST /proxy and the description of the API are for anybody.
func (s *Server) knows(c *gin.Context) {
	if p := principalOf(c.Request.Context()); p.Anonymous() && strings.HasPrefix(c.FullPath(), "/api/") {
		s.refuse(c, access.Check(p, "", access.ProjectRead))
		return
	}
	c.Next()
}

// withPrincipal says on whose behalf a request is made.
func withPrincipal(r *http.Request, p access.Principal) *http.Request {
	p.RemoteAddr, p.RequestID = r.RemoteAddr, requestID(r.Context())
	trailOf(r.Context()).who = p
	return r.WithContext(context.WithValue(r.Context(), principalKey, p))
}

// credentialOf is the secret that the caller is known by, "" for nobody's.
func (s *Server) credentialOf(r *http.Request) string {
	if _, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		return strings.TrimSpace(token)
	}
	return s.sessions().read(r)
}

func (s *Server) principal(r *http.Request) (access.Principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return access.Principal{}, fault.New(fault.Unauthenticated, "invalid_token", "Send an access token or a workspace key as Authorization: Bearer …")
		}
		return s.byBearer(r.Context(), strings.TrimSpace(token))
	}
	if session := s.sessions().read(r); session != "" {
		return s.Accounts.BySession(r.Context(), session)
	}
	return access.Principal{}, nil
}

func (s *Server) byBearer(ctx context.Context, token string) (access.Principal, error) {
	if tokens.IsToken(token) {
		return s.Tokens.ByToken(ctx, token)
	}
	return s.Accounts.ByWorkspaceKey(ctx, token)
}

// refuse ends a request with a problem, or a page about it.
func (s *Server) refuse(c *gin.Context, err error) {
	s.logCause(c.Request.Context(), err)
	c.Abort()
	s.respond(c.Writer, c.Request, err)
}

// logCause writes the cause of a failure that the answer does not name. An outage
// of the database fails every request alike, and is logged once a second.
func (s *Server) logCause(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case models.Unavailable(err):
		if failed := s.outage.admit(time.Now()); failed > 0 {
			s.Log.Error("the database does not answer", "requests", failed, "request", requestID(ctx), "error", err)
		}
	case fault.KindOf(err) == fault.Internal:
		s.Log.Error("a request failed", "request", requestID(ctx), "error", err)
	}
}

// outage counts the requests that failed since the last line in the log.
type outage struct {
	mu     sync.Mutex
	logged time.Time
	failed int
}

// admit returns how many requests a line stands for that may be logged now, 0 for
// none.
func (o *outage) admit(now time.Time) int {
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
