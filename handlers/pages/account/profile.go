package account

import (
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/account"
	"postern/views/ui"
)

func (h *Handler) showProfile(v *page.Visit) (web.Answer, error) {
	m, err := h.profileForm(v)
	return web.Show(account.ProfilePage(m)), err
}

func (h *Handler) profileForm(v *page.Visit) (account.Profile, error) {
	ways, err := h.Accounts.SignInMethods(v.Ctx(), v.Who)
	if err != nil {
		return account.Profile{}, err
	}
	now, err := h.Accounts.ProfileOf(v.Ctx(), v.Who.Account)
	return account.Profile{
		Page:        v.Shell("Your account", "/account"),
		Name:        ui.Value{Text: now.Name},
		Email:       ui.Value{Text: now.Email},
		Unconfirmed: now.UnconfirmedEmail,
		Mails:       h.Accounts.SendsMail(),
		Has:         ways.Password,
	}, err
}

func (h *Handler) saveProfile(v *page.Visit) (web.Answer, error) {
	in := contract.AccountChange{Password: contract.Secret(v.Posted("password"))}
	v.Fill(&in, "name", "email")
	now, err := h.Accounts.UpdateProfile(v.Ctx(), v.Who, contract.AccountUpdate{Body: in})
	if err == nil && now.UnconfirmedEmail != "" {
		return v.Done("email_mailed", "/account", now.UnconfirmedEmail)
	}
	if err == nil {
		return v.Done("settings", "/account", now.Name)
	}
	wrong, ok := page.ErrorsIn(err)
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
		web.SetRetryAfter(v.Gin.Writer.Header(), err)
		m.Error = problem.Detail
		return web.Answer{Status: problem.Status, Page: account.ProfilePage(m)}, nil
	}
	m.Name, m.Email = wrong.Value("/name", *in.Name), wrong.Value("/email", *in.Email)
	m.PasswordError = wrong.Take("/password")
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: account.ProfilePage(m)}, nil
}

// showConfirmation asks about a new address. It needs no session: mail is often read in another browser.
func (h *Handler) showConfirmation(v *page.Visit) (web.Answer, error) {
	m, err := h.confirmation(v)
	if err != nil || m.Email == "" {
		return confirmationOver(v), err
	}
	return web.Show(account.ConfirmationPage(m)), nil
}

func (h *Handler) confirmation(v *page.Visit) (account.Confirmation, error) {
	path := "/email/" + url.PathEscape(v.Param("code"))
	email, err := h.Accounts.UnconfirmedEmail(v.Ctx(), v.Param("code"))
	return account.Confirmation{Page: v.Shell("New email address", path), Action: path, Email: email}, err
}

func confirmationOver(v *page.Visit) web.Answer {
	page := account.ConfirmationOverPage(v.Shell("This link doesn't work", "/account"))
	return web.Answer{Status: http.StatusGone, Page: page}
}

func (h *Handler) confirmEmail(v *page.Visit) (web.Answer, error) {
	m, err := h.confirmation(v)
	if err != nil || m.Email == "" {
		return confirmationOver(v), err
	}
	err = h.Accounts.ConfirmEmail(v.Ctx(), v.Param("code"), from(v))
	if err == nil {
		return web.Show(account.ConfirmedPage(m)), nil
	}
	if fault.KindOf(err) == fault.Gone {
		return confirmationOver(v), nil
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: account.ConfirmationPage(m)}, nil
}
