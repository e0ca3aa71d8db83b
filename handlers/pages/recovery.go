package pages

import (
	"net/http"
	"net/url"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/signin"
)

func (h *Handler) showRecovery(v *visit) (web.Answer, error) {
	email, err := h.Accounts.RecoveryEmail(v.ctx(), v.param("code"))
	if err != nil {
		return web.Answer{}, err
	}
	if email == "" {
		return h.recoveryOver(v), nil
	}
	return web.Show(signin.RecoveryPage(recoveryForm(v, email))), nil
}

func recoveryForm(v *visit, email string) signin.Recovery {
	path := "/recover/" + url.PathEscape(v.param("code"))
	return signin.Recovery{
		Page:              v.shell("New password", path),
		Action:            path,
		Email:             email,
		MinPasswordLength: accounts.MinPassword,
	}
}

func (h *Handler) recoveryOver(v *visit) web.Answer {
	page := signin.RecoveryOverPage(v.shell("This link doesn't work", "/signin"), h.Accounts.SendsMail())
	return web.Answer{Status: http.StatusGone, Page: page}
}

func (h *Handler) saveRecovered(v *visit) (web.Answer, error) {
	session, err := h.Accounts.Recover(v.ctx(), v.param("code"), v.posted("password"), v.from())
	if err == nil {
		return web.Redirect("/projects"), h.beginSession(v, session)
	}
	if fault.KindOf(err) == fault.Gone {
		return h.recoveryOver(v), nil
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	email, err := h.Accounts.RecoveryEmail(v.ctx(), v.param("code"))
	if err != nil {
		return web.Answer{}, err
	}
	if email == "" {
		return h.recoveryOver(v), nil
	}
	m := recoveryForm(v, email)
	m.Password = wrong.take("/password")
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: signin.RecoveryPage(m)}, nil
}

// showForgotten asks for the address that a link for a new password is mailed to.
func (h *Handler) showForgotten(v *visit) (web.Answer, error) {
	m := signin.Forgotten{Page: v.shell("Reset your password", "/recover"), Mails: h.Accounts.SendsMail()}
	m.Sent = m.Mails && v.c.Query("sent") != ""
	return web.Show(signin.ForgottenPage(m)), nil
}

// mailRecovery answers the same whether or not there is an account.
func (h *Handler) mailRecovery(v *visit) (web.Answer, error) {
	email := v.posted("email")
	err := h.Accounts.RequestRecovery(v.ctx(), email, v.from())
	if err == nil {
		return web.Redirect("/recover?sent=1"), nil
	}
	wrong, ok := formErrorsIn(err)
	if !ok && fault.KindOf(err) == fault.TooMany {
		wrong, ok = &formErrors{status: http.StatusTooManyRequests, public: web.ProblemOf(err, "").Detail}, true
		web.SetRetryAfter(v.c.Writer.Header(), err)
	}
	if !ok {
		return web.Answer{}, err
	}
	m := signin.Forgotten{
		Page:  v.shell("Reset your password", "/recover"),
		Mails: true,
		Email: wrong.value("/email", email),
		Error: wrong.rest(),
	}
	return web.Answer{Status: wrong.status, Page: signin.ForgottenPage(m)}, nil
}
