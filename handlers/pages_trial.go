package handlers

import (
	"cmp"
	"net/http"
	"net/url"

	"postern/platform/fault"
	"postern/service/login"
	"postern/views/projects"
	"postern/views/ui"
)

// tryLogin begins a login of an app client in the visitor's own browser, where the
// dashboard takes the application's place.
func (s *Server) tryLogin(v *visit) (answer, error) {
	_, c, err := s.appClientOf(v)
	if err != nil {
		return answer{}, err
	}
	browser := s.cookie(v.c.Request, loginCookie)
	if browser == "" {
		browser = login.NewBrowser()
	}
	attempt, err := s.Login.TryOut(v.ctx(), v.who, c.ID, browser)
	if err != nil {
		return answer{}, err
	}
	s.setCookie(v.c.Writer, loginCookie, browser, loginTTL)
	return goTo("/oauth/" + url.PathEscape(c.ID) + "/login/" + attempt), nil
}

// showTrial is where a trial ends. Whoever is not signed in is led to the sign-in
// page without the code, which belongs into no other address.
func (s *Server) showTrial(v *visit) (answer, error) {
	signedIn, err := v.identify()
	if err != nil {
		return answer{}, err
	}
	if !signedIn {
		return goTo("/signin"), nil
	}
	got := readOnce(v.c.Request.URL.Query())
	v.c.Header("Referrer-Policy", "no-referrer")
	trial, err := s.Login.Tested(v.ctx(), v.who, login.TrialInput{ClientID: v.param("client"), Code: got.get("code"), State: got.get("state"), Error: got.get("error")},
		s.cookie(v.c.Request, loginCookie))
	if code := fault.CodeOf(err); err != nil && code != login.TrialOver && code != login.TrialRefused {
		return answer{}, err
	}
	m, modelErr := s.trialModel(v)
	if modelErr != nil {
		return answer{}, modelErr
	}
	if err != nil {
		s.Log.Info("a login failed", "request", requestID(v.ctx()), "client", v.param("client"), "error", err)
		m.Problem = problemOf(err, "").Detail
		return answer{status: http.StatusForbidden, page: projects.TrialPage(m)}, nil
	}
	m.Facts, m.ID, m.Access = trialFacts(trial), claimFacts(trial.ID), claimFacts(trial.Access)
	return show(projects.TrialPage(m)), nil
}

// trialModel is the page before it is known how the trial ended.
func (s *Server) trialModel(v *visit) (projects.Trial, error) {
	c, err := s.Login.Client(v.ctx(), v.who, v.param("client"))
	if err != nil {
		return projects.Trial{}, err
	}
	t, err := s.Projects.Tenant(v.ctx(), v.who, c.Tenant)
	if err != nil {
		return projects.Trial{}, err
	}
	v.enter(t.Team)
	title := "Test login of " + c.Name
	m := projects.Trial{Page: v.shell(title, "/projects", projectsCrumb(), ui.Crumb{Text: title}), Name: c.Name}
	if len(t.Projects) > 0 {
		m.BackURL = projectPath(t.Projects[0]) + "/login/" + url.PathEscape(c.ID)
	}
	return m, nil
}

func trialFacts(t login.Trial) []ui.Fact {
	return []ui.Fact{
		{Label: "Signed in", Value: cmp.Or(t.Name, t.Email, t.Subject)},
		{Label: "With", Value: t.Provider},
		{Label: "User", Value: t.Subject, Mono: true},
		{Label: "Scopes", Value: t.Scopes, Mono: true},
		{Label: "Tokens", Value: tokenTexts[t.Types].Text},
	}
}

func claimFacts(members []login.Member) []ui.Fact {
	var out []ui.Fact
	for _, one := range members {
		out = append(out, ui.Fact{Label: one.Name, Value: one.Value, Mono: true})
	}
	return out
}
