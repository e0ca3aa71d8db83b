package pages

import (
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/account"
)

func (h *Handler) showDeleteAccount(v *page.Visit) (web.Answer, error) {
	m, err := h.accountDeletion(v)
	return web.Show(account.DeletionPage(m)), err
}

// accountDeletion is the page that asks before the account is deleted.
func (h *Handler) accountDeletion(v *page.Visit) (account.Deletion, error) {
	d, err := h.Accounts.AccountDeletion(v.Ctx(), v.Who, contract.None{})
	return account.Deletion{
		Page:     v.Shell("Delete your account", "/account/delete"),
		Teams:    d.Teams,
		Obstacle: obstacleOf(d),
		Has:      d.Password,
	}, err
}

// obstacleOf says what keeps the account from being deleted, "" for nothing.
func obstacleOf(d contract.AccountDeletion) string {
	switch {
	case len(d.OnlyOwner) > 0:
		return "You're the only owner of " + strings.Join(d.OnlyOwner, ", ") + ". First make another member an " +
			"owner, or delete the team."
	case d.LastOperator:
		return "You're the only operator of this installation. First add another one: postern operators add EMAIL."
	case !d.Password && !d.Fresh:
		return "Sign out, sign in again, and delete the account within five minutes."
	}
	return ""
}

func (h *Handler) deleteAccount(v *page.Visit) (web.Answer, error) {
	in := contract.AccountProof{Confirm: v.Posted("confirm"), Password: contract.Secret(v.Posted("password"))}
	_, err := h.Accounts.DeleteAccount(v.Ctx(), v.Who, contract.AccountRemoval{Body: in})
	if err == nil {
		if err := h.Web.Sessions().End(v.Gin.Writer, v.Gin.Request); err != nil {
			return web.Answer{}, err
		}
		return web.Redirect("/signin"), nil
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok && fault.KindOf(err) != fault.TooMany {
		return web.Answer{}, err
	}
	m, failed := h.accountDeletion(v)
	if failed != nil {
		return web.Answer{}, failed
	}
	if !ok {
		problem := web.ProblemOf(err, "")
		web.SetRetryAfter(v.Gin.Writer.Header(), err)
		m.Error = problem.Detail
		return web.Answer{Status: problem.Status, Page: account.DeletionPage(m)}, nil
	}
	m.Typed, m.PasswordError = wrong.Value("/confirm", in.Confirm), wrong.Take("/password")
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: account.DeletionPage(m)}, nil
}
