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

// auditContext collects the fields of the audit entry of a refused request.
type auditContext struct {
	principal  access.Principal
	route      string // method and pattern: the path itself can hold a secret
	object     string // id at the end of the path, or ""
	credential bool   // the request presented one, valid or not
	err        error
}

func auditOf(ctx context.Context) *auditContext {
	a, ok := ctx.Value(auditKey).(*auditContext)
	if !ok {
		return &auditContext{} // outside of Observe: nothing is recorded
	}
	return a
}

// RecordRoute keeps the route and the object of a request for the audit log. It is the
// first middleware of Gin, which alone has the route.
func (s *Site) RecordRoute(c *gin.Context) {
	a := auditOf(c.Request.Context())
	a.route = c.Request.Method + " " + c.FullPath()
	traceRoute(c.Request.Context(), c.Request.Method, c.FullPath())
	if n := len(c.Params); n > 0 && idForm.MatchString(c.Params[n-1].Value) {
		a.object = c.Params[n-1].Value
	}
}

// idForm matches ids of models.NewID. No credential has this form.
var idForm = regexp.MustCompile(`^[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}$`)

// RecordError keeps the error that a request is answered with, for the audit log and the trace.
func RecordError(ctx context.Context, err error) {
	auditOf(ctx).err = err
	traceError(ctx, err)
}

// RecordCredential notes that the request presented a credential in its body, such as a
// password, so that its refusal is audited.
func RecordCredential(ctx context.Context) { auditOf(ctx).credential = true }

// recordRefusal writes an audit entry if the request was refused because of its caller:
// for an invalid credential, for a missing permission, or for an object of another
// team. Errors that any caller would get, and a missing credential, are not audited.
func (s *Site) recordRefusal(ctx context.Context, a *auditContext) {
	entry := access.Entry{Action: access.RequestMake, Detail: map[string]string{"route": a.route}}
	refusal, refused := errors.AsType[*access.Refusal](a.err)
	switch kind := fault.KindOf(a.err); {
	case a.err == nil:
		return
	case refused:
		entry.Action, entry.Team, entry.Project, entry.Object = refusal.Action, refusal.Team, refusal.Project, a.object
		if entry.Object == "" {
			entry.Object = refusal.Project
		}
	case kind == fault.Unauthenticated && a.credential:
		entry.Action = access.CredentialUse
	case kind != fault.Forbidden:
		return
	}
	s.Refusals.Add(ctx, a.principal, entry, fault.CodeOf(a.err))
}

// hasCredential reports whether a request's header carries a credential, valid or not.
func (s *Site) hasCredential(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" || s.Sessions().Read(r) != ""
}
