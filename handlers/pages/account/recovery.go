package account

import (
	"net/http"
	"net/url"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/signin"
)

func (h *Handler) showRecovery(v *page.Visit) (web.Answer, error) {
	email, err := h.Accounts.RecoveryEmail(v.Ctx(), v.Param("code"))
	if err != nil {
		return web.Answer{}, err
	}
	if email == "" {
		return h.recoveryOver(v), nil
	}
	return web.Show(signin.RecoveryPage(recoveryForm(v, email))), nil
}

func recoveryForm(v *page.Visit, email string) signin.Recovery {
	path := "/recover/" + url.PathEscape(v.Param("code"))
	return signin.Recovery{
		Page:              v.Shell("New password", path),
		Action:            path,
		Email:             email,
		MinPasswordLength: accounts.MinPassword,
	}
}

func (h *Handler) recoveryOver(v *page.Visit) web.Answer {
	page := signin.RecoveryOverPage(v.Shell("This link doesn't work", "/signin"), h.Accounts.SendsMail())
	return web.Answer{Status: http.StatusGone, Page: page}
}

func (h *Handler) saveRecovered(v *page.Visit) (web.Answer, error) {
	session, err := h.Accounts.Recover(v.Ctx(), v.Param("code"), v.Posted("password"), from(v))
	if err == nil {
		return web.Redirect("/projects"), h.beginSession(v, session)
	}
	if fault.KindOf(err) == fault.Gone {
		return h.recoveryOver(v), nil
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	email, err := h.Accounts.RecoveryEmail(v.Ctx(), v.Param("code"))
	if err != nil {
		return web.Answer{}, err
	}
	if email == "" {
		return h.recoveryOver(v), nil
	}
	m := recoveryForm(v, email)
	m.Password = wrong.Take("/password")
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: signin.RecoveryPage(m)}, nil
}

// showForgotten asks for the address that a link for a new password is mailed to.
func (h *Handler) showForgotten(v *page.Visit) (web.Answer, error) {
	m := signin.Forgotten{Page: v.Shell("Reset your password", "/recover"), Mails: h.Accounts.SendsMail()}
	m.Sent = m.Mails && v.Gin.Query("sent") != ""
	return web.Show(signin.ForgottenPage(m)), nil
}

// mailRecovery answers the same whether or not there is an account.
func (h *Handler) mailRecovery(v *page.Visit) (web.Answer, error) {
	email := v.Posted("email")
	err := h.Accounts.RequestRecovery(v.Ctx(), email, from(v))
	if err == nil {
		return web.Redirect("/recover?sent=1"), nil
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok && fault.KindOf(err) == fault.TooMany {
		wrong, ok = &page.Errors{Status: http.StatusTooManyRequests, Public: web.ProblemOf(err, "").Detail}, true
		web.SetRetryAfter(v.Gin.Writer.Header(), err)
	}
	if !ok {
		return web.Answer{}, err
	}
	m := signin.Forgotten{
		Page:  v.Shell("Reset your password", "/recover"),
		Mails: true,
		Email: wrong.Value("/email", email),
		Error: wrong.Rest(),
	}
	return web.Answer{Status: wrong.Status, Page: signin.ForgottenPage(m)}, nil
}
