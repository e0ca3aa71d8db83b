package handlers

import (
	"net/url"

	"github.com/dustin/go-humanize"

	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/account"
)

func (s *Server) askPassword(v *visit) (answer, error) {
	m, err := s.passwordForm(v)
	return show(account.PasswordPage(m)), err
}

func (s *Server) passwordForm(v *visit) (account.Password, error) {
	ways, err := s.Accounts.Ways(v.ctx(), v.who)
	return account.Password{
		Page:              v.shell("Password", "/account"),
		Has:               ways.Password,
		MinPasswordLength: accounts.MinPassword,
	}, err
}

func (s *Server) savePassword(v *visit) (answer, error) {
	err := s.Accounts.ChangePassword(
		v.ctx(),
		v.who,
		v.posted("old_password"),
		v.posted("password"),
		v.posted("revoke_tokens") == "true",
	)
	if err == nil {
		if err := s.rotateSession(v); err != nil {
			return answer{}, err
		}
		return v.done("password", "/account")
	}
	m, failed := s.passwordForm(v)
	if failed != nil {
		return answer{}, failed
	}
	m.RevokeTokens = v.posted("revoke_tokens") == "true"
	wrong, ok := mistakesIn(err)
	if ok {
		m.OldError, m.NewError = wrong.take("/old_password"), wrong.take("/password")
		m.Error = wrong.rest()
		return answer{status: wrong.status, page: account.PasswordPage(m)}, nil
	}
	if kind := fault.KindOf(err); kind != fault.TooMany && kind != fault.Stale {
		return answer{}, err
	}
	problem := problemOf(err, "")
	setRetryAfter(v.c.Writer.Header(), err)
	m.Error = problem.Detail
	return answer{status: problem.Status, page: account.PasswordPage(m)}, nil
}

func (s *Server) showSessionsPage(v *visit) (answer, error) {
	found, err := s.Accounts.Sessions(v.ctx(), v.who)
	if err != nil {
		return answer{}, err
	}
	m := account.Sessions{Page: v.shell("Where you are signed in", "/account/sessions")}
	for _, session := range found {
		m.Sessions = append(m.Sessions, account.Session{
			ID:      session.ID,
			Name:    browserName(session.UserAgent),
			Current: session.Current,
			Detail: "From " + session.RemoteAddr + " since " + day(
				session.CreatedAt,
			) + ", last seen " + humanize.Time(
				session.SeenAt,
			),
			EndAction: "/account/sessions/" + url.PathEscape(session.ID) + "/end",
		})
	}
	return show(account.SessionsPage(m)), nil
}

func (s *Server) endSessionPage(v *visit) (answer, error) {
	if err := s.Accounts.EndSession(v.ctx(), v.who, v.param("session")); err != nil {
		return answer{}, err
	}
	return v.done("ended", "/account/sessions")
}

func (s *Server) endOtherSessionsPage(v *visit) (answer, error) {
	if _, err := s.Accounts.EndOtherSessions(v.ctx(), v.who); err != nil {
		return answer{}, err
	}
	return v.done("ended", "/account/sessions")
}
