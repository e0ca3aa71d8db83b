package pages

import (
	"net/http"
	"net/url"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/views/signin"
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

func (v *visit) from() accounts.From {
	r := v.c.Request
	return accounts.From{
		RemoteAddr: r.RemoteAddr,
		UserAgent:  r.UserAgent(),
		RequestID:  web.RequestID(r.Context()),
		Device:     v.server.Web.Cookie(r, web.DeviceCookie),
	}
}

// signUpURL returns the address of the sign-up page, "" if the visitor cannot sign up.
func (h *Handler) signUpURL(v *visit, next string) (string, error) {
	err := h.Accounts.MaySignUp(v.ctx(), ticketIn(next))
	switch fault.KindOf(err) {
	case fault.Internal:
		return withNext("/signup", next), err // nil, or a failure
	default:
		return "", nil
	}
}

func (h *Handler) showSignUp(v *visit) (web.Answer, error) {
	next := web.LocalPath(v.c.Query("next"))
	signedIn, err := v.authenticate()
	if err != nil {
		return web.Answer{}, err
	}
	if signedIn {
		return redirectAfterSignIn(next), nil
	}
	if err := h.Accounts.MaySignUp(v.ctx(), ticketIn(next)); err != nil {
		return h.refusedSignUp(v, next, err)
	}
	m, err := h.signUpForm(v, next)
	return web.Show(signin.SignUpPage(m)), err
}

func (h *Handler) signUpForm(v *visit, next string) (signin.SignUp, error) {
	m := signin.SignUp{
		Page:              v.shell("Create an account", withNext("/signup", next)),
		MinPasswordLength: accounts.MinPassword,
		Next:              next,
		Providers:         h.federatedProviders(),
		SignInURL:         withNext("/signin", next),
	}
	ticket := ticketIn(next)
	if ticket.Claim != "" {
		m.Intro = "Then you can claim the workspace."
	}
	if ticket.Invitation == "" {
		return m, nil
	}
	invitation, err := h.Accounts.PreviewInvitation(v.ctx(), ticket.Invitation)
	m.Intro = "You join " + invitation.TeamName + " as " + invitation.Role + "."
	if invitation.Email != "" && !invitation.ByMail {
		m.Intro += " The invitation is for " + invitation.Email + ": continue with a provider below that confirms " +
			"this address."
	}
	m.Email.Text = invitation.Email
	return m, err
}

// refusedSignUp shows the page with the reason why the visitor cannot sign up.
func (h *Handler) refusedSignUp(v *visit, next string, err error) (web.Answer, error) {
	if fault.KindOf(err) == fault.Internal {
		return web.Answer{}, err
	}
	problem := web.ProblemOf(err, "")
	m := signin.SignUp{
		Page:      v.shell("Create an account", "/signup"),
		Refusal:   problem.Detail,
		SignInURL: withNext("/signin", next),
	}
	return web.Answer{Status: problem.Status, Page: signin.SignUpPage(m)}, nil
}

func (h *Handler) signUp(v *visit) (web.Answer, error) {
	next := web.LocalPath(v.posted("next"))
	in := accounts.SignUp{
		Email:    v.posted("email"),
		Name:     v.posted("name"),
		Password: v.posted("password"),
		From:     v.from(),
	}
	ticket := ticketIn(next)
	session, err := h.Accounts.SignUp(v.ctx(), in, ticket)
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
	if wrong, ok := formErrorsIn(err); ok {
		m.Email, m.Name = wrong.value("/email", in.Email), wrong.value("/name", in.Name)
		m.Password = wrong.take("/password")
		m.Error = wrong.rest()
		return web.Answer{Status: wrong.status, Page: signin.SignUpPage(m)}, nil
	}
	if kind := fault.KindOf(err); kind != fault.TooMany && kind != fault.Forbidden && kind != fault.Conflict {
		return web.Answer{}, err
	}
	problem := web.ProblemOf(err, "")
	web.SetRetryAfter(v.c.Writer.Header(), err)
	m.Error = problem.Detail
	return web.Answer{Status: problem.Status, Page: signin.SignUpPage(m)}, nil
}

// roleTexts describe what each role may do.
var roleTexts = map[access.Role]string{
	access.Owner:  "Owners can do everything, including managing members.",
	access.Member: "Members can create and change projects, keys and exports.",
	access.Viewer: "Viewers can see everything and change nothing.",
}

func (h *Handler) showInvite(v *visit) (web.Answer, error) {
	if _, err := v.authenticate(); err != nil {
		return web.Answer{}, err
	}
	m, err := h.invited(v)
	if err != nil {
		return h.refusedInvite(v, err)
	}
	return web.Show(signin.InvitedPage(m)), nil
}

func (h *Handler) invited(v *visit) (signin.Invited, error) {
	path := "/invite/" + url.PathEscape(v.param("code"))
	found, err := h.Accounts.PreviewInvitation(v.ctx(), v.param("code"))
	if err != nil {
		return signin.Invited{}, err
	}
	m := signin.Invited{
		Page:      v.shell("Invitation", path),
		Team:      found.TeamName,
		Role:      found.Role,
		RoleText:  roleTexts[access.Role(found.Role)],
		Action:    path,
		SignInURL: withNext("/signin", path),
	}
	if v.account != nil {
		m.Account = v.account.Email
		return m, nil
	}
	m.SignUpURL, err = h.signUpURL(v, path)
	return m, err
}

func (h *Handler) refusedInvite(v *visit, err error) (web.Answer, error) {
	if fault.KindOf(err) != fault.Gone {
		return web.Answer{}, err
	}
	m := signin.Invited{Page: v.shell("Invitation", "/projects"), Refusal: web.ProblemOf(err, "").Detail}
	return web.Answer{Status: http.StatusGone, Page: signin.InvitedPage(m)}, nil
}

func (h *Handler) acceptInvite(v *visit) (web.Answer, error) {
	team, err := h.Accounts.Accept(v.ctx(), v.who, contract.AcceptanceOf(v.param("code")))
	if err == nil {
		v.rememberTeam(team.ID)
		if err := h.rotateSession(v); err != nil {
			return web.Answer{}, err
		}
		return v.done("joined", "/projects")
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
func (h *Handler) rotateSession(v *visit) error {
	secret, err := h.Accounts.Rotate(v.ctx(), v.who)
	if err != nil {
		return err
	}
	return h.Web.Sessions().Begin(v.c.Writer, v.c.Request, secret)
}
