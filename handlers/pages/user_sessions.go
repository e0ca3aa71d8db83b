package pages

import (
	"net/url"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/tenants"
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
