package account

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/views/account"
	"postern/views/ui"
)

func (h *Handler) showPassword(v *page.Visit) (web.Answer, error) {
	m, err := h.passwordForm(v)
	return web.Show(account.PasswordPage(m)), err
}

func (h *Handler) passwordForm(v *page.Visit) (account.Password, error) {
	ways, err := h.Accounts.SignInMethods(v.Ctx(), v.Who)
	return account.Password{
		Page:              v.Shell("Password", "/account/password"),
		Has:               ways.Password,
		MinPasswordLength: accounts.MinPassword,
	}, err
}

func (h *Handler) savePassword(v *page.Visit) (web.Answer, error) {
	err := h.Accounts.ChangePassword(
		v.Ctx(),
		v.Who,
		v.Posted("old_password"),
		v.Posted("password"),
		v.Posted("revoke_tokens") == "true",
	)
	if err == nil {
		if err := h.rotateSession(v); err != nil {
			return web.Answer{}, err
		}
		return v.Done("password", "/account/password")
	}
	m, failed := h.passwordForm(v)
	if failed != nil {
		return web.Answer{}, failed
	}
	m.RevokeTokens = v.Posted("revoke_tokens") == "true"
	wrong, ok := page.ErrorsIn(err)
	if ok {
		m.OldError, m.NewError = wrong.Take("/old_password"), wrong.Take("/password")
		m.Error = wrong.Rest()
		return web.Answer{Status: wrong.Status, Page: account.PasswordPage(m)}, nil
	}
	if kind := fault.KindOf(err); kind != fault.TooMany && kind != fault.Stale {
		return web.Answer{}, err
	}
	problem := web.ProblemOf(err, "")
	web.SetRetryAfter(v.Gin.Writer.Header(), err)
	m.Error = problem.Detail
	return web.Answer{Status: problem.Status, Page: account.PasswordPage(m)}, nil
}

func (h *Handler) showSessions(v *page.Visit) (web.Answer, error) {
	list := &page.Listing{
		Path: "/account/sessions",
		One:  "session",
		Orders: []page.ListOrder{
			{By: "created", Text: "Sign-in", Desc: true},
			{By: "last_seen", Text: "Last seen", Desc: true},
		},
	}
	list.Read(v)
	found, err := h.Accounts.Sessions(v.Ctx(), v.Who, contract.SessionList{Sort: list.Sorting()})
	if err != nil {
		return web.Answer{}, err
	}
	m := account.Sessions{
		Page: v.Shell("Where you're signed in", "/account/sessions"),
		List: page.ListView(list, found),
	}
	for _, session := range found.Items {
		m.Sessions = append(m.Sessions, account.Session{
			ID:        session.ID,
			Name:      web.BrowserName(session.UserAgent),
			Current:   session.Current,
			From:      session.RemoteAddr,
			Seen:      session.LastSeenAt,
			EndAction: "/account/sessions/" + url.PathEscape(session.ID) + "/end",
		})
	}
	return web.Show(account.SessionsPage(m)), nil
}

func (h *Handler) endSession(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askEndSession(v)
	}
	in := contract.SessionPath{Session: v.Param("session")}
	if _, err := h.Accounts.EndSession(v.Ctx(), v.Who, in); err != nil {
		return web.Answer{}, err
	}
	return v.Done("ended", "/account/sessions")
}

func (h *Handler) endOtherSessions(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askEndOtherSessions(v)
	}
	if _, err := h.Accounts.EndOtherSessions(v.Ctx(), v.Who, contract.None{}); err != nil {
		return web.Answer{}, err
	}
	return v.Done("ended", "/account/sessions")
}

// askEndSession asks before the account is signed out of one browser.
func (h *Handler) askEndSession(v *page.Visit) (web.Answer, error) {
	found, err := h.Accounts.Sessions(v.Ctx(), v.Who, contract.SessionList{})
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(found.Items, func(s contract.Session) bool { return s.ID == v.Param("session") })
	if i < 0 {
		return web.Answer{}, access.NotFound()
	}
	one := found.Items[i]
	title := "Sign out of " + web.BrowserName(one.UserAgent)
	return v.AskConfirmation(ui.ConfirmationView{
		Page:  v.Shell(title, "/account/sessions"),
		Title: title,
		Facts: []ui.Fact{
			{Label: "From", Value: cmp.Or(one.RemoteAddr, "unknown")},
			{Label: "Signed in", Time: one.CreatedAt},
			{Label: "Last seen", Time: one.LastSeenAt},
		},
		Confirm: ui.Confirmation{
			Title: "Sign out",
			Impact: []string{"You'll have to sign in again in that browser, and unsaved input there will be lost. " +
				"Access tokens will keep working."},
			Undo:     "You can sign in there again.",
			ByButton: true,
		},
		BackURL: "/account/sessions",
	})
}

// askEndOtherSessions asks before the account is signed out everywhere else.
func (h *Handler) askEndOtherSessions(v *page.Visit) (web.Answer, error) {
	all, err := h.Accounts.Sessions(v.Ctx(), v.Who, contract.SessionList{Sort: "-last_seen"})
	if err != nil {
		return web.Answer{}, err
	}
	found := slices.DeleteFunc(all.Items, func(s contract.Session) bool { return s.Current })
	facts := []ui.Fact{{Label: "Elsewhere", Value: page.CountText(int64(len(found)), "session")}}
	if len(found) > 0 {
		last := found[0]
		facts = append(facts, ui.Fact{
			Label: "Last used",
			Value: web.BrowserName(last.UserAgent) + " from " + cmp.Or(last.RemoteAddr, "an unknown address") + ", " +
				humanize.Time(last.LastSeenAt),
		})
	}
	const title = "Sign out everywhere else"
	return v.AskConfirmation(ui.ConfirmationView{
		Page:  v.Shell(title, "/account/sessions"),
		Title: title,
		Facts: facts,
		Confirm: ui.Confirmation{
			Title: title,
			Impact: []string{"You'll have to sign in again in all other browsers. Access tokens and this session " +
				"will keep working."},
			Undo:     "You can sign in there again.",
			ByButton: true,
		},
		BackURL: "/account/sessions",
	})
}

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

// obstacleOf says what keeps the account from being deleted. Without a text, nothing does.
func obstacleOf(d contract.AccountDeletion) ui.Notice {
	n := ui.Notice{Tone: ui.Warn}
	switch {
	case len(d.OnlyOwner) > 0:
		n.Text = "You're the only owner of " + strings.Join(d.OnlyOwner, ", ") + ". Make another member an owner " +
			"first, or delete the team."
		n.Link = ui.Link{URL: "/teams", Text: "Open your teams"}
	case d.LastOperator:
		n.Text = "You're the only operator of this installation. Add another operator first: postern operators add " +
			"EMAIL."
	case !d.Password && !d.Fresh:
		n.Text = "Sign out, sign in again, and delete the account within five minutes."
	}
	return n
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
