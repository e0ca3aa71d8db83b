// Package account serves sign-in, sign-up and recovery, the pages of the visitor's own account, and the page that
// claims a workspace.
//
// It leaves passwords, sessions and permissions to service/accounts, and providers' answers to
// service/accounts/federated.
package account

import (
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/accounts"
	"postern/service/accounts/federated"
)

// Handler serves the pages of accounts.
type Handler struct {
	Accounts  *accounts.Service
	Providers []federated.Provider // that people can sign in with, in addition to a password
	Web       *web.Site
}

// Mount mounts the pages of accounts.
func (h *Handler) Mount(p page.Router) {
	p.Open("GET", "/", h.home)
	p.Open("GET", "/signin", h.showSignIn)
	p.Open("POST", "/signin", h.signIn, "email next password")
	p.Open("POST", "/signin/:provider", h.startFederated, "next")
	p.OpenOnce("/signin/:provider/callback", h.federatedCallback) // uses up its state, which HEAD must not
	p.OpenAnswer("/signin/:provider/callback", h.federatedCallbackByPost)
	p.Open("GET", "/signup", h.showSignUp)
	p.Open("POST", "/signup", h.signUp, "email name next password")
	p.Open("POST", "/signout", h.signOut)
	p.Open("GET", "/invite/:code", h.showInvite)
	p.Open("GET", "/welcome/:code", h.showWelcome)
	p.Open("POST", "/welcome/:code", h.welcome, "email name password")
	p.Open("GET", "/recover", h.showForgotten)
	p.Open("POST", "/recover", h.mailRecovery, "email")
	p.Open("GET", "/recover/:code", h.showRecovery)
	p.Open("POST", "/recover/:code", h.saveRecovered, "password")
	p.Open("GET", "/email/:code", h.showConfirmation)
	p.Open("POST", "/email/:code", h.confirmEmail)
	p.Open("POST", "/theme", h.chooseTheme, "return_to theme")
	p.Open("POST", "/sidebar", h.chooseSidebar, "rail return_to")
	p.SignedIn("GET", "/claim/:code", h.showClaim)
	p.SignedIn("POST", "/claim/:code", h.claim, "team")
	p.SignedIn("GET", claimedPath, h.showClaimed)
	p.SignedIn("POST", "/invite/:code", h.acceptInvite)
	p.SignedIn("GET", "/account", h.showProfile)
	p.SignedIn("POST", "/account", h.saveProfile, "email name password")
	p.SignedIn("GET", "/account/password", h.showPassword)
	p.SignedIn("POST", "/account/password", h.savePassword, "old_password password revoke_tokens")
	p.SignedIn("GET", "/account/delete", h.showDeleteAccount)
	p.SignedIn("POST", "/account/delete", h.deleteAccount, "password")
	p.SignedIn("GET", "/account/sessions", h.showSessions)
	p.SignedIn("POST", "/account/sessions/end-others", h.endOtherSessions)
	p.SignedIn("POST", "/account/sessions/:session/end", h.endSession)
	p.SignedIn("GET", "/account/signins", h.showLinked)
	p.SignedIn("POST", "/account/signins/link/:provider", h.beginLink)
	p.SignedIn("POST", "/account/signins/:identity/unlink", h.unlink)
}
