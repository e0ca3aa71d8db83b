package pages

import (
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/account"
	"postern/views/ui"
)

func (h *Handler) showProfile(v *visit) (web.Answer, error) {
	m, err := h.profileForm(v)
	return web.Show(account.ProfilePage(m)), err
}

func (h *Handler) profileForm(v *visit) (account.Profile, error) {
	ways, err := h.Accounts.SignInMethods(v.ctx(), v.who)
	if err != nil {
		return account.Profile{}, err
	}
	now, err := h.Accounts.ProfileOf(v.ctx(), v.who.Account)
	return account.Profile{
		Page:        v.shell("Your account", "/account"),
		Name:        ui.Value{Text: now.Name},
		Email:       ui.Value{Text: now.Email},
		Unconfirmed: now.UnconfirmedEmail,
		Mails:       h.Accounts.SendsMail(),
		Has:         ways.Password,
	}, err
}

func (h *Handler) saveProfile(v *visit) (web.Answer, error) {
	in := contract.AccountChange{Password: contract.Secret(v.posted("password"))}
	v.fill(&in, "name", "email")
	now, err := h.Accounts.UpdateProfile(v.ctx(), v.who, contract.AccountUpdate{Body: in})
	if err == nil && now.UnconfirmedEmail != "" {
		return v.done("email_mailed", "/account", now.UnconfirmedEmail)
	}
	if err == nil {
		return v.done("settings", "/account", now.Name)
	}
	wrong, ok := formErrorsIn(err)
	if !ok && fault.KindOf(err) != fault.TooMany {
		return web.Answer{}, err
	}
	m, failed := h.profileForm(v)
	if failed != nil {
		return web.Answer{}, failed
	}
	m.Name.Text, m.Email.Text = *in.Name, *in.Email
	if !ok {
		problem := web.ProblemOf(err, "")
		web.SetRetryAfter(v.c.Writer.Header(), err)
		m.Error = problem.Detail
		return web.Answer{Status: problem.Status, Page: account.ProfilePage(m)}, nil
	}
	m.Name, m.Email = wrong.value("/name", *in.Name), wrong.value("/email", *in.Email)
	m.PasswordError = wrong.take("/password")
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: account.ProfilePage(m)}, nil
}

// showConfirmation asks about a new address. It needs no session: mail is often read in another browser.
func (h *Handler) showConfirmation(v *visit) (web.Answer, error) {
	m, err := h.confirmation(v)
	if err != nil || m.Email == "" {
		return confirmationOver(v), err
	}
	return web.Show(account.ConfirmationPage(m)), nil
}

func (h *Handler) confirmation(v *visit) (account.Confirmation, error) {
	path := "/email/" + url.PathEscape(v.param("code"))
	email, err := h.Accounts.UnconfirmedEmail(v.ctx(), v.param("code"))
	return account.Confirmation{Page: v.shell("New email address", path), Action: path, Email: email}, err
}

func confirmationOver(v *visit) web.Answer {
	page := account.ConfirmationOverPage(v.shell("This link doesn't work", "/account"))
	return web.Answer{Status: http.StatusGone, Page: page}
}

func (h *Handler) confirmEmail(v *visit) (web.Answer, error) {
	m, err := h.confirmation(v)
	if err != nil || m.Email == "" {
		return confirmationOver(v), err
	}
	err = h.Accounts.ConfirmEmail(v.ctx(), v.param("code"), v.from())
	if err == nil {
		return web.Show(account.ConfirmedPage(m)), nil
	}
	if fault.KindOf(err) == fault.Gone {
		return confirmationOver(v), nil
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: account.ConfirmationPage(m)}, nil
}
