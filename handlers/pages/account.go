package pages

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/views/account"
	"postern/views/ui"
)

func (h *Handler) showPassword(v *visit) (web.Answer, error) {
	m, err := h.passwordForm(v)
	return web.Show(account.PasswordPage(m)), err
}

func (h *Handler) passwordForm(v *visit) (account.Password, error) {
	ways, err := h.Accounts.SignInMethods(v.ctx(), v.who)
	return account.Password{
		Page:              v.shell("Password", "/account/password"),
		Has:               ways.Password,
		MinPasswordLength: accounts.MinPassword,
	}, err
}

func (h *Handler) savePassword(v *visit) (web.Answer, error) {
	err := h.Accounts.ChangePassword(
		v.ctx(),
		v.who,
		v.posted("old_password"),
		v.posted("password"),
		v.posted("revoke_tokens") == "true",
	)
	if err == nil {
		if err := h.rotateSession(v); err != nil {
			return web.Answer{}, err
		}
		return v.done("password", "/account/password")
	}
	m, failed := h.passwordForm(v)
	if failed != nil {
		return web.Answer{}, failed
	}
	m.RevokeTokens = v.posted("revoke_tokens") == "true"
	wrong, ok := formErrorsIn(err)
	if ok {
		m.OldError, m.NewError = wrong.take("/old_password"), wrong.take("/password")
		m.Error = wrong.rest()
		return web.Answer{Status: wrong.status, Page: account.PasswordPage(m)}, nil
	}
	if kind := fault.KindOf(err); kind != fault.TooMany && kind != fault.Stale {
		return web.Answer{}, err
	}
	problem := web.ProblemOf(err, "")
	web.SetRetryAfter(v.c.Writer.Header(), err)
	m.Error = problem.Detail
	return web.Answer{Status: problem.Status, Page: account.PasswordPage(m)}, nil
}

func (h *Handler) showSessions(v *visit) (web.Answer, error) {
	list := &listing{
		path: "/account/sessions",
		one:  "session",
		orders: []listOrder{
			{by: "created", text: "Sign-in", desc: true},
			{by: "last_seen", text: "Last seen", desc: true},
		},
	}
	list.read(v)
	found, err := h.Accounts.Sessions(v.ctx(), v.who, contract.SessionList{Sort: list.sorting()})
	if err != nil {
		return web.Answer{}, err
	}
	m := account.Sessions{
		Page: v.shell("Where you're signed in", "/account/sessions"),
		List: listView(list, found),
	}
	for _, session := range found.Items {
		m.Sessions = append(m.Sessions, account.Session{
			ID:      session.ID,
			Name:    web.BrowserName(session.UserAgent),
			Current: session.Current,
			Detail: "From " + session.RemoteAddr + " since " + day(session.CreatedAt) +
				", last seen " + humanize.Time(session.LastSeenAt),
			EndAction: "/account/sessions/" + url.PathEscape(session.ID) + "/end",
		})
	}
	return web.Show(account.SessionsPage(m)), nil
}

func (h *Handler) endSession(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askEndSession(v)
	}
	in := contract.SessionPath{Session: v.param("session")}
	if _, err := h.Accounts.EndSession(v.ctx(), v.who, in); err != nil {
		return web.Answer{}, err
	}
	return v.done("ended", "/account/sessions")
}

func (h *Handler) endOtherSessions(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askEndOtherSessions(v)
	}
	if _, err := h.Accounts.EndOtherSessions(v.ctx(), v.who, contract.None{}); err != nil {
		return web.Answer{}, err
	}
	return v.done("ended", "/account/sessions")
}

// askEndSession asks before the account is signed out of one browser.
func (h *Handler) askEndSession(v *visit) (web.Answer, error) {
	found, err := h.Accounts.Sessions(v.ctx(), v.who, contract.SessionList{})
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(found.Items, func(s contract.Session) bool { return s.ID == v.param("session") })
	if i < 0 {
		return web.Answer{}, access.NotFound()
	}
	one := found.Items[i]
	title := "Sign out of " + web.BrowserName(one.UserAgent)
	return v.ask(ui.Asked{
		Page:  v.shell(title, "/account/sessions"),
		Title: title,
		Facts: []ui.Fact{
			{Label: "From", Value: cmp.Or(one.RemoteAddr, "unknown")},
			{Label: "Signed in", Value: moment(one.CreatedAt)},
			{Label: "Last seen", Value: humanize.Time(one.LastSeenAt)},
		},
		Confirm: ui.Confirmation{
			Title: "Sign out",
			Impact: []string{"The next page it opens will ask you to sign in, and unsaved input is lost. Access " +
				"tokens keep working."},
			Undo:     "You can sign in there again.",
			ByButton: true,
		},
		BackURL: "/account/sessions",
	})
}

// askEndOtherSessions asks before the account is signed out everywhere else.
func (h *Handler) askEndOtherSessions(v *visit) (web.Answer, error) {
	all, err := h.Accounts.Sessions(v.ctx(), v.who, contract.SessionList{Sort: "-last_seen"})
	if err != nil {
		return web.Answer{}, err
	}
	found := slices.DeleteFunc(all.Items, func(s contract.Session) bool { return s.Current })
	facts := []ui.Fact{{Label: "Elsewhere", Value: countText(int64(len(found)), "session")}}
	if len(found) > 0 {
		last := found[0]
		facts = append(facts, ui.Fact{
			Label: "Last used",
			Value: web.BrowserName(last.UserAgent) + " from " + cmp.Or(last.RemoteAddr, "an unknown address") + ", " +
				humanize.Time(last.LastSeenAt),
		})
	}
	const title = "Sign out everywhere else"
	return v.ask(ui.Asked{
		Page:  v.shell(title, "/account/sessions"),
		Title: title,
		Facts: facts,
		Confirm: ui.Confirmation{
			Title: title,
			Impact: []string{"You'll have to sign in again in all other browsers. Access tokens and this session " +
				"keep working."},
			Undo:     "You can sign in there again.",
			ByButton: true,
		},
		BackURL: "/account/sessions",
	})
}
