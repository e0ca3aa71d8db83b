package page

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/views/ui"
)

// Router mounts pages. The fields of a form are names separated by spaces. One that ends in * stands for one field
// for each window of a limit. Forms with a file are read by their handlers, unless they come without its parts.
//
// net/http leaves the body out of the answers to HEAD (RFC 9110, 9.3.2), so that the handler of GET serves both.
type Router struct {
	Server *Server
	Gin    *gin.Engine
}

// Open mounts a page that needs no session, or a form with these fields.
func (p Router) Open(method, path string, page Handler, fields ...string) {
	if method == http.MethodPost {
		page = knowingFields(fields, page)
	}
	p.Handle(method, path, p.Server.open(page))
}

// OpenOnce mounts a page whose GET changes something. It has no HEAD.
func (p Router) OpenOnce(path string, page Handler) {
	p.Gin.GET(path, p.Server.open(page))
}

// OpenAnswer mounts the target of a form that another site fills in, with fields that are its own.
func (p Router) OpenAnswer(path string, page Handler) {
	p.Gin.POST(path, p.Server.open(page))
}

// SignedIn mounts a page, or a form with these fields, that redirects to sign-in without a session.
func (p Router) SignedIn(method, path string, page Handler, fields ...string) {
	if method == http.MethodPost {
		page = knowingFields(fields, p.Server.idempotentForm(page, false))
	}
	p.Handle(method, path, p.Server.RequireSession(page))
}

// SignedInOnce mounts a page for visitors with a session whose GET changes something.
func (p Router) SignedInOnce(path string, page Handler) {
	p.Gin.GET(path, p.Server.RequireSession(page))
}

// SecretForm mounts a form that redirects to a page with a secret, which is shown once.
func (p Router) SecretForm(path string, page Handler, fields ...string) {
	p.Gin.POST(path, p.Server.RequireSession(knowingFields(fields, p.Server.idempotentForm(page, true))))
}

// Handle mounts a page as it is.
func (p Router) Handle(method, path string, page gin.HandlerFunc) {
	p.Gin.Handle(method, path, page)
	if method == http.MethodGet {
		p.Gin.HEAD(path, page)
	}
}

// internalFields can be in every form: that it is sent once, that the object has not changed since, and that the
// visitor means it.
var internalFields = []string{ui.NonceField, "revision", "confirm", "typed_name"}

// knowingFields has a form refuse fields other than these before anything else is looked at. They would be ignored.
func knowingFields(fields []string, page Handler) Handler {
	known := map[string]bool{}
	for _, name := range append(strings.Fields(strings.Join(fields, " ")), internalFields...) {
		prefix, isWindows := strings.CutSuffix(name, "*")
		known[name] = !isWindows
		for w := snapshot.Second; isWindows && w < snapshot.Windows; w++ {
			known[prefix+w.String()] = true
		}
	}
	return func(v *Visit) (web.Answer, error) {
		if err := web.CheckFields(v.Gin.Request.PostForm, known); err != nil {
			return web.Answer{}, err
		}
		return page(v)
	}
}
