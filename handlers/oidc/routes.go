package oidc

import (
	"github.com/gin-gonic/gin"

	"postern/handlers/web"
)

// Mount adds the routes: the endpoints of app clients (issuer.go), then the pages on which
// people sign in (login.go).
func (h *Handler) Mount(r *gin.Engine) {
	r.GET("/oauth/:client/.well-known/openid-configuration", h.discovery)
	// RFC 8414, 3.1 puts the well-known part before the issuer's path. Many clients append it, as for OpenID Connect.
	r.GET("/.well-known/oauth-authorization-server/oauth/:client", h.discovery)
	r.GET("/oauth/:client/.well-known/oauth-authorization-server", h.discovery)
	r.GET("/oauth/:client/jwks.json", h.jwks)
	r.POST("/oauth/:client/token", h.token)
	r.OPTIONS("/oauth/:client/token", h.preflight)
	r.POST("/oauth/:client/revoke", h.revokeGrant)
	r.OPTIONS("/oauth/:client/revoke", h.preflight)
	r.POST("/oauth/:client/introspect", h.introspect)
	r.GET("/oauth/:client/userinfo", h.userInfo)
	r.POST("/oauth/:client/userinfo", h.userInfo)
	r.OPTIONS("/oauth/:client/userinfo", h.preflight)

	r.GET("/oauth/:client/groups", h.managedGroups)
	r.OPTIONS("/oauth/:client/groups", h.preflight)
	r.GET("/oauth/:client/groups/:group/members", h.managedMembers)
	r.OPTIONS("/oauth/:client/groups/:group/members", h.preflight)
	r.PUT("/oauth/:client/groups/:group/members/:user", h.setManagedMember)
	r.DELETE("/oauth/:client/groups/:group/members/:user", h.removeManagedMember)
	r.OPTIONS("/oauth/:client/groups/:group/members/:user", h.preflight)

	open := func(method, path string, page web.PageFunc) { r.Handle(method, path, h.Web.Page(page)) }
	form := func(path string, page web.PageFunc, fields ...string) { open("POST", path, withFields(page, fields)) }
	open("GET", "/oauth/:client/authorize", h.authorize)
	open("POST", "/oauth/:client/authorize", h.authorize)
	open("GET", "/oauth/:client/login/:attempt", h.resumeLogin)
	form("/oauth/:client/login/:attempt", h.chooseByAddress, "email")
	open("GET", "/oauth/:client/login/:attempt/:provider", h.chooseProvider)
	open("GET", "/oauth/:client/callback/:provider", h.loginCallback)
	open("POST", "/oauth/:client/callback/:provider", h.callbackByPost)
	form("/oauth/:client/consent", h.consent, "attempt", "ticket", "answer")
	open("GET", "/oauth/:client/logout", h.logout)
	open("POST", "/oauth/:client/logout", h.logout)
	form("/oauth/:client/logout/confirm", h.confirmLogout, "answer", "client_id", "post_logout_redirect_uri", "state")
	open("GET", "/oauth/:client/brand.css", h.brandStyle)

	open("GET", "/oauth/:client/account", h.account)
	form("/oauth/:client/account/signin", h.accountSignIn)
	form("/oauth/:client/account/link", h.accountLink)
	open("GET", "/oauth/:client/invitation/:code", h.invitation)
	form("/oauth/:client/invitation/:code", h.acceptInvitation)
	form("/oauth/:client/account/providers/:identity/unlink", h.accountUnlink)
	form("/oauth/:client/account/sessions/:session/end", h.accountEndSession)
	form("/oauth/:client/account/sessions/end-all", h.accountEndAll)
	form("/oauth/:client/account/consents/:application/withdraw", h.accountWithdraw)
	form("/oauth/:client/account/delete", h.accountDelete, "confirm")
}

// withFields has a form refuse fields that it doesn't have. Requests of clients may have any: OAuth ignores the others
// (RFC 6749, 3.1).
func withFields(page web.PageFunc, fields []string) web.PageFunc {
	known := map[string]bool{}
	for _, name := range fields {
		known[name] = true
	}
	return func(c *gin.Context) (web.Answer, error) {
		if err := web.CheckFields(c.Request.PostForm, known); err != nil {
			return web.Answer{}, err
		}
		return page(c)
	}
}

// CrossOriginRoutes lists the routes that other sites may post to, with web.CallbackRoutes. None of them changes
// anything for a cookie alone: authorize sends its answer to the client, logout asks without an ID token, and the
// members of groups need an access token.
var CrossOriginRoutes = []string{
	"POST /oauth/{client}/token",
	"POST /oauth/{client}/revoke",
	"POST /oauth/{client}/userinfo",
	"POST /oauth/{client}/logout",
	"POST /oauth/{client}/authorize",
	"PUT /oauth/{client}/groups/{group}/members/{user}",
	"DELETE /oauth/{client}/groups/{group}/members/{user}",
}
