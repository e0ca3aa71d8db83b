package tenants

import (
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/tenants"
	"postern/views/ui"
)

// signInsOf adds a user's sessions and consents to their page, with the forms that end and
// withdraw them where mayChange.
func (h *Handler) signInsOf(v *page.Visit, m *tenants.User, user string, mayChange bool) error {
	list := &page.Listing{
		Path:    page.UserPath(user),
		Prefix:  "sessions_",
		Section: "sessions",
		One:     "session",
		Orders: []page.ListOrder{
			{By: "created", Text: "Start", Desc: true},
			{By: "last_seen", Text: "Last seen", Desc: true},
			{By: "expires", Text: "Expires"},
		},
	}
	list.Read(v)
	sessions, err := h.Login.Sessions(v.Ctx(), v.Who, contract.UserSessionList{
		UserPath: contract.UserPath{User: user}, Page: list.Request(), Sort: list.Sorting(),
	})
	if err != nil {
		return err
	}
	m.List = page.ListView(list, sessions)
	consents, err := h.Login.Consents(v.Ctx(), v.Who, contract.UserPath{User: user})
	if err != nil {
		return err
	}
	path := page.UserPath(user)
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
			Detail:      strings.Join(one.Scopes, ", "),
			Since:       one.CreatedAt,
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
		Since:       one.CreatedAt,
	}
	var how []string
	if one.Provider != "" {
		how = append(how, "with "+one.Provider)
	}
	if one.UserAgent != "" {
		how = append(how, web.BrowserName(one.UserAgent))
	}
	row.Detail = strings.Join(how, " · ")
	return row
}

// sessionIn is the session of a user in the address.
func sessionIn(v *page.Visit) contract.UserSessionPath {
	return contract.UserSessionPath{UserPath: userIn(v), Session: v.Param("session")}
}

func (h *Handler) endUserSession(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askSignIn(v, "user_session", h.askEndUserSession)
	}
	_, err := h.Login.EndSession(v.Ctx(), v.Who, sessionIn(v))
	return h.signInEnded(v, err, "user_session")
}

func (h *Handler) endUserSessions(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askEndUserSessions(v)
	}
	_, err := h.Login.EndSessions(v.Ctx(), v.Who, userIn(v))
	return h.signInEnded(v, err, "user_sessions")
}

func (h *Handler) withdrawUserConsent(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askSignIn(v, "user_consent", h.askWithdrawConsent)
	}
	_, err := h.Login.WithdrawConsent(v.Ctx(), v.Who, contract.ConsentPath{
		UserPath: userIn(v), Client: v.Param("client"),
	})
	return h.signInEnded(v, err, "user_consent")
}

// signInEnded leads back to the user's page. A sign-in that another tab or the user has
// ended before is not an error.
func (h *Handler) signInEnded(v *page.Visit, err error, notice string) (web.Answer, error) {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		_, err = h.Directory.User(v.Ctx(), v.Who, userIn(v))
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done(notice, page.UserPath(v.Param("user"))+"#sessions")
}

// askOfUser asks for something on a user's page, for those who may change users.
func (h *Handler) askOfUser(v *page.Visit, ask func(contract.User) (ui.ConfirmationView, error)) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := ask(u)
	if err != nil {
		return web.Answer{}, err
	}
	m.Page = h.tenantShell(v, t, m.Title, page.UserPath(u.ID), ui.Crumb{Text: "Users", URL: usersPath(t.ID)},
		ui.Crumb{Text: userTitle(u), URL: page.UserPath(u.ID)}, ui.Crumb{Text: m.Title})
	m.BackURL, m.Confirm.ByButton = page.UserPath(u.ID), true
	return v.AskConfirmation(m)
}

// endsAtOnce says what happens to the access tokens of a session that ends.
const endsAtOnce = "Postern will immediately refuse the session's access tokens and won't issue new " +
	"ones."

// askEndUserSession asks before a session of a user ends.
func (h *Handler) askEndUserSession(v *page.Visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.ConfirmationView, error) {
		one, err := h.Login.Session(v.Ctx(), v.Who, sessionIn(v))
		if err != nil {
			return ui.ConfirmationView{}, err
		}
		facts := []ui.Fact{{Label: "App", Value: one.ClientName}, {Label: "Signed in", Time: one.CreatedAt}}
		if one.UserAgent != "" {
			facts = append(facts, ui.Fact{Label: "Browser", Value: web.BrowserName(one.UserAgent)})
		}
		if one.LastSeenAt != nil {
			facts = append(facts, page.TimeFact("Last seen", one.LastSeenAt))
		}
		return ui.ConfirmationView{
			Title: "End a session for " + userTitle(u),
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

// askEndUserSessions asks before a user is signed out everywhere.
func (h *Handler) askEndUserSessions(v *page.Visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.ConfirmationView, error) {
		live, err := h.Login.Sessions(v.Ctx(), v.Who, contract.UserSessionList{
			UserPath: u.Path(), Page: contract.Page{Limit: 1, Count: true},
		})
		if err != nil {
			return ui.ConfirmationView{}, err
		}
		return ui.ConfirmationView{
			Title: "Sign out " + userTitle(u) + " everywhere",
			Facts: []ui.Fact{
				{Label: "Signed in", Value: page.CountText(live.Total, "session")},
				page.TimeFact("Last sign-in", u.LastLoginAt),
			},
			Confirm: ui.Confirmation{
				Title:  "Sign out everywhere",
				Impact: []string{"The gateway will immediately refuse the access tokens of all sessions in every app."},
				Undo:   "The user can sign in again.",
			},
		}, nil
	})
}

// askWithdrawConsent asks before a user's consent to an app is withdrawn.
func (h *Handler) askWithdrawConsent(v *page.Visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.ConfirmationView, error) {
		given, err := h.Login.Consents(v.Ctx(), v.Who, u.Path())
		if err != nil {
			return ui.ConfirmationView{}, err
		}
		i := slices.IndexFunc(given.Items, func(one contract.Consent) bool { return one.Client == v.Param("client") })
		if i < 0 {
			return ui.ConfirmationView{}, access.NotFound()
		}
		one := given.Items[i]
		return ui.ConfirmationView{
			Title: "Withdraw the consent for " + one.ClientName,
			Facts: []ui.Fact{
				{Label: "User", Value: userTitle(u)},
				{Label: "Shared data", Value: page.TextOrNone(strings.Join(one.Scopes, ", "))},
				{Label: "Given", Time: one.CreatedAt},
			},
			Confirm: ui.Confirmation{
				Verb: "Withdraw",
				Kind: "consent",
				Impact: []string{
					"The user's sessions with " + one.ClientName + " will end immediately, and their access tokens " +
						"will stop working.",
				},
				Undo: "The user will be asked again at the next sign-in.",
			},
		}, nil
	})
}

// askSignIn answers a form about a user's sign-in with the question before it. A session that has ended needs no
// confirmation.
func (h *Handler) askSignIn(
	v *page.Visit,
	notice string,
	ask func(*page.Visit) (web.Answer, error),
) (web.Answer, error) {
	answer, err := ask(v)
	if fault.KindOf(err) == fault.NotFound {
		return h.signInEnded(v, err, notice)
	}
	return answer, err
}
