package web

import (
	"context"
	"errors"
	"net/http"
	"regexp"

	"github.com/gin-gonic/gin"

	"postern/platform/fault"
	"postern/service/access"
)

// trail is what becomes known of a request on its way in, for the audit log to
// tell why it was refused.
type auditContext struct {
	principal  access.Principal
	route      string // its pattern: an address can hold a secret
	object     string // id at the end of the address, "" for anything else
	credential bool   // was presented
	err        error
}

func auditOf(ctx context.Context) *auditContext {
	t, ok := ctx.Value(auditKey).(*auditContext)
	if !ok {
		return &auditContext{} // of a request that nobody observes
	}
	return t
}

// RecordRoute is the first of Gin's middleware.
func (s *Site) RecordRoute(c *gin.Context) {
	t := auditOf(c.Request.Context())
	t.route = c.Request.Method + " " + c.FullPath()
	if n := len(c.Params); n > 0 && idForm.MatchString(c.Params[n-1].Value) {
		t.object = c.Params[n-1].Value
	}
}

// idForm is that of models.NewID, which no credential has.
var idForm = regexp.MustCompile(`^[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}$`)

// RecordError keeps the error that a request is answered with, for the audit log.
func RecordError(ctx context.Context, err error) { auditOf(ctx).err = err }

// RecordCredential notes that the request presented a credential in its body, such as
// a password, so that its refusal is audited.
func RecordCredential(ctx context.Context) { auditOf(ctx).credential = true }

// recordRefusal writes down that a request was refused because of who asked: with
// a credential that is none, without the right to it, or for what belongs to
// others. What does not exist, does not fit or needs a credential that was not
// sent is nobody's trespass.
func (s *Site) recordRefusal(ctx context.Context, t *auditContext) {
	entry := access.Entry{Action: access.RequestMake, Detail: map[string]string{"route": t.route}}
	refusal, refused := errors.AsType[*access.Refusal](t.err)
	switch kind := fault.KindOf(t.err); {
	case t.err == nil:
		return
	case refused:
		entry.Action, entry.Team, entry.Project, entry.Object = refusal.Action, refusal.Team, refusal.Project, t.object
		if entry.Object == "" {
			entry.Object = refusal.Project
		}
	case kind == fault.Unauthenticated && t.credential:
		entry.Action = access.CredentialUse
	case kind != fault.Forbidden:
		return
	}
	s.Refusals.Add(ctx, t.principal, entry, fault.CodeOf(t.err))
}

// presents tells whether a request carries a credential, right or wrong.
func (s *Site) hasCredential(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" || s.Sessions().Read(r) != ""
}
