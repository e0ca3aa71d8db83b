package pages

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/views/ui"
)

// pageRouter mounts pages. The fields of a form are names separated by spaces. One that ends in * stands for one field
// for each window of a limit. Forms with a file are read by their handlers, unless they come without its parts.
//
// net/http leaves the body out of the answers to HEAD (RFC 9110, 9.3.2), so that the handler of GET serves both.
type pageRouter struct {
	server *server
	gin    *gin.Engine
}

// open mounts a page that needs no session, or a form with these fields.
func (p pageRouter) open(method, path string, page pageHandler, fields ...string) {
	if method == http.MethodPost {
		page = knowingFields(fields, page)
	}
	p.handle(method, path, p.server.open(page))
}

// openOnce mounts a page whose GET changes something. It has no HEAD.
func (p pageRouter) openOnce(path string, page pageHandler) {
	p.gin.GET(path, p.server.open(page))
}

// openAnswer mounts the target of a form that another site fills in, with fields that are its own.
func (p pageRouter) openAnswer(path string, page pageHandler) {
	p.gin.POST(path, p.server.open(page))
}

// signedIn mounts a page, or a form with these fields, that redirects to sign-in without a session.
func (p pageRouter) signedIn(method, path string, page pageHandler, fields ...string) {
	if method == http.MethodPost {
		page = knowingFields(fields, p.server.idempotentForm(page, false))
	}
	p.handle(method, path, p.server.requireSession(page))
}

// signedInOnce mounts a page for visitors with a session whose GET changes something.
func (p pageRouter) signedInOnce(path string, page pageHandler) {
	p.gin.GET(path, p.server.requireSession(page))
}

// secretForm mounts a form that redirects to a page with a secret, which is shown once.
func (p pageRouter) secretForm(path string, page pageHandler, fields ...string) {
	p.gin.POST(path, p.server.requireSession(knowingFields(fields, p.server.idempotentForm(page, true))))
}

func (p pageRouter) handle(method, path string, page gin.HandlerFunc) {
	p.gin.Handle(method, path, page)
	if method == http.MethodGet {
		p.gin.HEAD(path, page)
	}
}

// internalFields can be in every form: that it is sent once, that the object has not changed since, and that the
// visitor means it.
var internalFields = []string{ui.NonceField, "revision", "confirm", "typed_name"}

// knowingFields has a form refuse fields other than these before anything else is looked at. They would be ignored.
func knowingFields(fields []string, page pageHandler) pageHandler {
	known := map[string]bool{}
	for _, name := range append(strings.Fields(strings.Join(fields, " ")), internalFields...) {
		prefix, isWindows := strings.CutSuffix(name, "*")
		known[name] = !isWindows
		for w := snapshot.Second; isWindows && w < snapshot.Windows; w++ {
			known[prefix+w.String()] = true
		}
	}
	return func(v *visit) (web.Answer, error) {
		if err := web.CheckFields(v.c.Request.PostForm, known); err != nil {
			return web.Answer{}, err
		}
		return page(v)
	}
}
