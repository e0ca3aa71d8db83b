package pages

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/tenants"
	"postern/views/ui"
)

// signInsOf adds a user's sessions and consents to their page, with the forms that end and
// withdraw them where mayChange.
func (h *Handler) signInsOf(v *visit, m *tenants.User, user string, mayChange bool) error {
	list := &listing{
		path:    userPath(user),
		prefix:  "sessions_",
		section: "sessions",
		one:     "session",
		orders: []listOrder{
			{by: "created", text: "Start", desc: true},
			{by: "last_seen", text: "Last seen", desc: true},
			{by: "expires", text: "End"},
		},
	}
	list.read(v)
	sessions, err := h.Login.Sessions(v.ctx(), v.who, contract.UserSessionList{
		UserPath: contract.UserPath{User: user}, Page: list.asked(), Sort: list.sorting(),
	})
	if err != nil {
		return err
	}
	m.List = listView(list, sessions)
	consents, err := h.Login.Consents(v.ctx(), v.who, contract.UserPath{User: user})
	if err != nil {
		return err
	}
	path := userPath(user)
	for _, one := range sessions.Items {
		row := sessionRow(one)
		if mayChange {
			row.Action = path + "/sessions/" + url.PathEscape(one.ID) + "/end"
		}
		m.Sessions = append(m.Sessions, row)
	}
	if mayChange && len(m.Sessions) > 0 {
		m.EndAllAction = path + "/sessions/end-all"
	}
	for _, one := range consents.Items {
		row := tenants.Consent{
			Application: one.ClientName,
			Detail:      strings.Join(one.Scopes, ", ") + ", since " + day(one.CreatedAt),
		}
		if mayChange {
			row.Action = path + "/consents/" + url.PathEscape(one.Client) + "/withdraw"
		}
		m.Consents = append(m.Consents, row)
	}
	return nil
}

func sessionRow(one contract.UserSession) tenants.Session {
	row := tenants.Session{
		Application: one.ClientName,
		Detail:      "Since " + moment(one.CreatedAt),
	}
	if one.Provider != "" {
		row.Detail += " with " + one.Provider
	}
	if one.UserAgent != "" {
		row.Detail += ", " + web.BrowserName(one.UserAgent)
	}
	return row
}

// sessionIn is the session of a user in the address.
func sessionIn(v *visit) contract.UserSessionPath {
	return contract.UserSessionPath{UserPath: userIn(v), Session: v.param("session")}
}

func (h *Handler) endUserSession(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askSignIn(v, "user_session", h.askEndUserSession)
	}
	_, err := h.Login.EndSession(v.ctx(), v.who, sessionIn(v))
	return h.signInEnded(v, err, "user_session")
}

func (h *Handler) endUserSessions(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askEndUserSessions(v)
	}
	_, err := h.Login.EndSessions(v.ctx(), v.who, userIn(v))
	return h.signInEnded(v, err, "user_sessions")
}

func (h *Handler) withdrawUserConsent(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askSignIn(v, "user_consent", h.askWithdrawConsent)
	}
	_, err := h.Login.WithdrawConsent(v.ctx(), v.who, contract.ConsentPath{
		UserPath: userIn(v), Client: v.param("client"),
	})
	return h.signInEnded(v, err, "user_consent")
}

// signInEnded leads back to the user's page. What ended meanwhile, by another tab or by the
// user, is no error.
func (h *Handler) signInEnded(v *visit, err error, notice string) (web.Answer, error) {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		_, err = h.Directory.User(v.ctx(), v.who, userIn(v))
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done(notice, userPath(v.param("user"))+"#sessions")
}

// askOfUser asks for something on a user's page, for those who may change users.
func (h *Handler) askOfUser(v *visit, ask func(contract.User) (ui.Asked, error)) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := ask(u)
	if err != nil {
		return web.Answer{}, err
	}
	m.Page = v.tenantShell(t, m.Title, userPath(u.ID), ui.Crumb{Text: "Users", URL: usersPath(t.ID)},
		ui.Crumb{Text: userTitle(u), URL: userPath(u.ID)}, ui.Crumb{Text: m.Title})
	m.BackURL, m.Confirm.ByButton = userPath(u.ID), true
	return v.ask(m)
}

// endsAtOnce is what happens to the access tokens of a session that ends.
const endsAtOnce = "The gateway refuses its access tokens immediately, and it can't get new ones."

// askEndUserSession asks before a session of a user ends.
func (h *Handler) askEndUserSession(v *visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.Asked, error) {
		one, err := h.Login.Session(v.ctx(), v.who, sessionIn(v))
		if err != nil {
			return ui.Asked{}, err
		}
		facts := []ui.Fact{{Label: "App", Value: one.ClientName}, {Label: "Since", Value: moment(one.CreatedAt)}}
		if one.UserAgent != "" {
			facts = append(facts, ui.Fact{Label: "Browser", Value: web.BrowserName(one.UserAgent)})
		}
		if one.LastSeenAt != nil {
			facts = append(facts, ui.Fact{Label: "Last seen", Value: humanize.Time(*one.LastSeenAt)})
		}
		return ui.Asked{
			Title: "End a session of " + userTitle(u),
			Facts: facts,
			Confirm: ui.Confirmation{
				Verb:   "End",
				Kind:   "session",
				Impact: []string{endsAtOnce},
				Undo:   "The user can sign in again.",
			},
		}, nil
	})
}

// askEndUserSessions asks before a user is logged out everywhere.
func (h *Handler) askEndUserSessions(v *visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.Asked, error) {
		live, err := h.Login.Sessions(v.ctx(), v.who, contract.UserSessionList{
			UserPath: u.Path(), Page: contract.Page{Limit: 1, Count: true},
		})
		if err != nil {
			return ui.Asked{}, err
		}
		return ui.Asked{
			Title: "Sign out " + userTitle(u) + " everywhere",
			Facts: []ui.Fact{
				{Label: "Signed in", Value: countText(live.Total, "session")},
				{Label: "Last sign-in", Value: momentOrNever(u.LastLoginAt)},
			},
			Confirm: ui.Confirmation{
				Title:  "Sign out everywhere",
				Impact: []string{"The gateway immediately refuses the access tokens of all sessions, in every app."},
				Undo:   "The user can sign in again.",
			},
		}, nil
	})
}

// askWithdrawConsent asks before a user's consent to an app is withdrawn.
func (h *Handler) askWithdrawConsent(v *visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.Asked, error) {
		given, err := h.Login.Consents(v.ctx(), v.who, u.Path())
		if err != nil {
			return ui.Asked{}, err
		}
		i := slices.IndexFunc(given.Items, func(one contract.Consent) bool { return one.Client == v.param("client") })
		if i < 0 {
			return ui.Asked{}, access.NotFound()
		}
		one := given.Items[i]
		return ui.Asked{
			Title: "Withdraw the consent to " + one.ClientName,
			Facts: []ui.Fact{
				{Label: "User", Value: userTitle(u)},
				{Label: "Shares", Value: textOrNone(strings.Join(one.Scopes, ", "))},
				{Label: "Since", Value: day(one.CreatedAt)},
			},
			Confirm: ui.Confirmation{
				Verb: "Withdraw",
				Kind: "consent",
				Impact: []string{
					"The user's sessions at " + one.ClientName + " end immediately, with their access tokens.",
				},
				Undo: "The user is asked again at the next sign-in.",
			},
		}, nil
	})
}

// askSignIn answers a form about a user's sign-in with the question before it. What ended
// meanwhile needs none.
func (h *Handler) askSignIn(v *visit, notice string, ask func(*visit) (web.Answer, error)) (web.Answer, error) {
	answer, err := ask(v)
	if fault.KindOf(err) == fault.NotFound {
		return h.signInEnded(v, err, notice)
	}
	return answer, err
}
