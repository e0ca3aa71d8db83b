package account

import (
	"net/http"
	"net/url"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/signin"
	"postern/views/ui"
)

// ticketIn returns the invitation or claim in the path that sign-in leads to. It may allow
// signing up.
func ticketIn(next string) accounts.Ticket {
	path, _, _ := strings.Cut(next, "?")
	if code, ok := strings.CutPrefix(path, "/invite/"); ok {
		return accounts.Ticket{Invitation: unescaped(code)}
	}
	if code, ok := strings.CutPrefix(path, "/claim/"); ok {
		return accounts.Ticket{Claim: unescaped(code)}
	}
	return accounts.Ticket{}
}

func unescaped(segment string) string {
	text, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}
	return text
}

func from(v *page.Visit) accounts.From {
	r := v.Gin.Request
	return accounts.From{
		RemoteAddr: r.RemoteAddr,
		UserAgent:  r.UserAgent(),
		RequestID:  web.RequestID(r.Context()),
		Device:     v.Server.Web.Cookie(r, web.DeviceCookie),
	}
}

// signUpURL returns the URL of the sign-up page, "" if the visitor cannot sign up.
func (h *Handler) signUpURL(v *page.Visit, next string) (string, error) {
	err := h.Accounts.MaySignUp(v.Ctx(), ticketIn(next))
	switch fault.KindOf(err) {
	case fault.Internal:
		return page.WithNext("/signup", next), err // nil, or a failure
	default:
		return "", nil
	}
}

func (h *Handler) showSignUp(v *page.Visit) (web.Answer, error) {
	next := web.LocalPath(v.Gin.Query("next"))
	signedIn, err := v.Authenticate()
	if err != nil {
		return web.Answer{}, err
	}
	if signedIn {
		return redirectAfterSignIn(next), nil
	}
	if err := h.Accounts.MaySignUp(v.Ctx(), ticketIn(next)); err != nil {
		return h.refusedSignUp(v, next, err)
	}
	m, err := h.signUpForm(v, next)
	return web.Show(signin.SignUpPage(m)), err
}

func (h *Handler) signUpForm(v *page.Visit, next string) (signin.SignUp, error) {
	m := signin.SignUp{
		Page:              v.Shell("Create an account", page.WithNext("/signup", next)),
		MinPasswordLength: accounts.MinPassword,
		Next:              next,
		Providers:         h.federatedProviders(),
		SignInURL:         page.WithNext("/signin", next),
	}
	ticket := ticketIn(next)
	if ticket.Claim != "" {
		m.Intro = "Once you have an account, you can claim the workspace."
	}
	if ticket.Invitation == "" {
		return m, nil
	}
	invitation, err := h.Accounts.PreviewInvitation(v.Ctx(), ticket.Invitation)
	m.Intro = "You'll join " + invitation.TeamName + " as " + ui.WithArticle(invitation.Role) + "."
	if invitation.Email != "" && !invitation.ByMail {
		m.Intro += " The invitation is for " + invitation.Email + ". Continue below with a provider that confirms " +
			"this address."
	}
	m.Email.Text = invitation.Email
	return m, err
}

// refusedSignUp shows the page with the reason why the visitor cannot sign up.
func (h *Handler) refusedSignUp(v *page.Visit, next string, err error) (web.Answer, error) {
	if fault.KindOf(err) == fault.Internal {
		return web.Answer{}, err
	}
	problem := web.ProblemOf(err, "")
	m := signin.SignUp{
		Page:      v.Shell("Create an account", "/signup"),
		Refusal:   problem.Detail,
		SignInURL: page.WithNext("/signin", next),
	}
	return web.Answer{Status: problem.Status, Page: signin.SignUpPage(m)}, nil
}

func (h *Handler) signUp(v *page.Visit) (web.Answer, error) {
	next := web.LocalPath(v.Posted("next"))
	in := accounts.SignUp{
		Email:    v.Posted("email"),
		Name:     v.Posted("name"),
		Password: v.Posted("password"),
		From:     from(v),
	}
	ticket := ticketIn(next)
	session, err := h.Accounts.SignUp(v.Ctx(), in, ticket)
	if err == nil {
		if ticket.Invitation != "" {
			next = "" // it is used up
		}
		return redirectAfterSignIn(next), h.beginSession(v, session)
	}
	if code := fault.CodeOf(err); code == "signup_closed" || fault.KindOf(err) == fault.Gone ||
		fault.KindOf(err) == fault.NotFound {
		return h.refusedSignUp(v, next, err)
	}
	m, failed := h.signUpForm(v, next)
	if failed != nil {
		return web.Answer{}, failed
	}
	m.Email.Text, m.Name.Text = in.Email, in.Name
	if wrong, ok := page.ErrorsIn(err); ok {
		m.Email, m.Name = wrong.Value("/email", in.Email), wrong.Value("/name", in.Name)
		m.Password = wrong.Take("/password")
		m.Error = wrong.Rest()
		return web.Answer{Status: wrong.Status, Page: signin.SignUpPage(m)}, nil
	}
	if kind := fault.KindOf(err); kind != fault.TooMany && kind != fault.Forbidden && kind != fault.Conflict {
		return web.Answer{}, err
	}
	problem := web.ProblemOf(err, "")
	web.SetRetryAfter(v.Gin.Writer.Header(), err)
	m.Error = problem.Detail
	return web.Answer{Status: problem.Status, Page: signin.SignUpPage(m)}, nil
}

func (h *Handler) showInvite(v *page.Visit) (web.Answer, error) {
	if _, err := v.Authenticate(); err != nil {
		return web.Answer{}, err
	}
	m, err := h.invited(v)
	if err != nil {
		return h.refusedInvite(v, err)
	}
	return web.Show(signin.InvitedPage(m)), nil
}

func (h *Handler) invited(v *page.Visit) (signin.Invited, error) {
	path := "/invite/" + url.PathEscape(v.Param("code"))
	found, err := h.Accounts.PreviewInvitation(v.Ctx(), v.Param("code"))
	if err != nil {
		return signin.Invited{}, err
	}
	m := signin.Invited{
		Page:      v.Shell("Invitation", path),
		Team:      found.TeamName,
		Role:      found.Role,
		RoleText:  page.RoleText(found.Role),
		Action:    path,
		SignInURL: page.WithNext("/signin", path),
	}
	if v.Account != nil {
		m.Account = v.Account.Email
		return m, nil
	}
	m.SignUpURL, err = h.signUpURL(v, path)
	return m, err
}

func (h *Handler) refusedInvite(v *page.Visit, err error) (web.Answer, error) {
	if fault.KindOf(err) != fault.Gone {
		return web.Answer{}, err
	}
	m := signin.Invited{Page: v.Shell("Invitation", "/projects"), Refusal: web.ProblemOf(err, "").Detail}
	return web.Answer{Status: http.StatusGone, Page: signin.InvitedPage(m)}, nil
}

func (h *Handler) acceptInvite(v *page.Visit) (web.Answer, error) {
	team, err := h.Accounts.Accept(v.Ctx(), v.Who, contract.AcceptanceOf(v.Param("code")))
	if err == nil {
		v.RememberTeam(team.ID)
		if err := h.rotateSession(v); err != nil {
			return web.Answer{}, err
		}
		return v.Done("joined", "/projects")
	}
	kind := fault.KindOf(err)
	if kind != fault.Conflict && kind != fault.Forbidden {
		return h.refusedInvite(v, err)
	}
	m, failed := h.invited(v)
	if failed != nil {
		return h.refusedInvite(v, failed)
	}
	problem := web.ProblemOf(err, "")
	m.Error = problem.Detail
	return web.Answer{Status: problem.Status, Page: signin.InvitedPage(m)}, nil
}

// rotateSession gives the browser another secret for its session.
func (h *Handler) rotateSession(v *page.Visit) error {
	secret, err := h.Accounts.Rotate(v.Ctx(), v.Who)
	if err != nil {
		return err
	}
	return h.Web.Sessions().Begin(v.Gin.Writer, v.Gin.Request, secret)
}
