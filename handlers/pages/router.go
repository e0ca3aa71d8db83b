package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// pageRouter mounts pages. net/http leaves the body out of the answers to HEAD (RFC
// 9110, 9.3.2), so that the handler of GET serves both.
type pageRouter struct {
	server *Handler
	gin    *gin.Engine
}

// open mounts a page or form that needs no session.
func (p pageRouter) open(method, path string, page pageHandler) {
	if method == http.MethodPost {
		page = knowingFields(path, page)
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

// signedIn mounts a page or form that redirects to sign-in without a session.
func (p pageRouter) signedIn(method, path string, page pageHandler) {
	if method == http.MethodPost {
		page = knowingFields(path, p.server.idempotentForm(page, false))
	}
	p.handle(method, path, p.server.requireSession(page))
}

// signedInOnce is signedIn for a page whose GET changes something.
func (p pageRouter) signedInOnce(path string, page pageHandler) {
	p.gin.GET(path, p.server.requireSession(page))
}

// secretForm mounts a form that redirects to a page with a secret, which is shown once.
func (p pageRouter) secretForm(path string, page pageHandler) {
	p.gin.POST(path, p.server.requireSession(knowingFields(path, p.server.idempotentForm(page, true))))
}

func (p pageRouter) handle(method, path string, page gin.HandlerFunc) {
	p.gin.Handle(method, path, page)
	if method == http.MethodGet {
		p.gin.HEAD(path, page)
	}
}
