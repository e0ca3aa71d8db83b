package pages

import (
	"context"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/views/ui"
)

// visit is one request for a page, with what its handler needs.
type visit struct {
	c       *gin.Context
	who     access.Principal // anonymous on open pages
	account *ui.Account      // nil on open pages
	state   string           // in the nonce of the form that was sent, "" without one
	server  *Handler
}

// pageHandler answers a visit. Its errors become error pages.
type pageHandler func(*visit) (web.Answer, error)

// open serves a page without requiring a session.
func (h *Handler) open(page pageHandler) gin.HandlerFunc {
	return func(c *gin.Context) { h.answer(&visit{c: c, server: h}, page) }
}

// requireSession serves a page to visitors with a session and redirects others to sign-in.
// Bearer tokens are accepted by the API only: a page acts on a person's own sign-in.
func (h *Handler) requireSession(page pageHandler) gin.HandlerFunc {
	return func(c *gin.Context) {
		v := &visit{c: c, server: h}
		signedIn, err := v.authenticate()
		switch {
		case err != nil:
			h.Web.Refuse(c, err)
		case !signedIn:
			v.rememberClaim()
			v.redirectToSignIn()
		default:
			h.answer(v, page)
		}
	}
}

// authenticate identifies the visitor by the session cookie. It deletes the cookie of a
// session that has ended.
func (v *visit) authenticate() (signedIn bool, err error) {
	s, r := v.server, v.c.Request
	session := s.Web.Sessions().Read(r)
	if session == "" {
		return false, nil
	}
	p, err := s.Accounts.BySession(r.Context(), session)
	if err != nil {
		return false, err
	}
	if p.Anonymous() {
		return false, s.Web.Sessions().End(v.c.Writer, r)
	}
	profile, err := s.Accounts.ProfileOf(r.Context(), p.Account)
	if err != nil {
		return false, err
	}
	teams, err := s.Accounts.Teams(r.Context(), p, contract.OwnTeamList{Page: contract.Page{Limit: models.MaxLimit}})
	if err != nil {
		return false, err
	}
	if chosen := s.Web.Cookie(r, web.TeamCookie); p.Roles[chosen] != "" {
		p.HomeTeam = chosen
	}
	v.c.Request = web.WithPrincipal(r, p)
	v.who, v.account = web.Principal(v.ctx()), showAccount(profile, teams.Items, p.HomeTeam)
	v.account.Audit = v.who.May(p.HomeTeam, access.AuditRead)
	return true, nil
}

func showAccount(profile contract.AccountProfile, teams []contract.Team, chosen string) *ui.Account {
	out := &ui.Account{Name: profile.Name, Email: profile.Email}
	for _, t := range teams {
		out.Teams = append(out.Teams, ui.Option{
			Value:  t.ID,
			Title:  t.Name,
			Note:   t.Role,
			Chosen: t.ID == chosen,
		})
		if t.ID == chosen {
			out.Team = t.Name
		}
	}
	return out
}

// selectTeam makes the team of the object on the page the selected one.
func (v *visit) selectTeam(team string) {
	if v.who.HomeTeam == team || v.who.Roles[team] == "" {
		return
	}
	v.rememberTeam(team)
	v.who.HomeTeam, v.account.Team = team, ""
	for i := range v.account.Teams {
		t := &v.account.Teams[i]
		if t.Chosen = t.Value == team; t.Chosen {
			v.account.Team = t.Title
		}
	}
}

// redirectToSignIn remembers where the visitor wanted to go; for a form that is the page
// it was on, because its own address may take POST only. htmx would follow a plain
// redirect and put the sign-in page into the middle of the other.
func (v *visit) redirectToSignIn() {
	r := v.c.Request
	next := r.URL.RequestURI()
	if from, err := url.Parse(r.Referer()); (r.Method != http.MethodGet && r.Method != http.MethodHead) ||
		r.Header.Get("HX-Request") != "" {
		next = ""
		if err == nil && from.Host == r.Host {
			next = from.RequestURI()
		}
	}
	to := withNext("/signin", web.LocalPath(next))
	if r.Header.Get("HX-Request") != "" {
		v.c.Header("HX-Redirect", to)
		v.c.Status(http.StatusNoContent)
		return
	}
	v.c.Redirect(http.StatusSeeOther, to)
}

func (h *Handler) answer(v *visit, page pageHandler) {
	err := web.ParseForm(v.c)
	var a web.Answer
	v.c.Request = v.c.Request.WithContext(v.withCode())
	if err == nil {
		a, err = page(v)
	}
	if err != nil {
		h.refuseVisit(v, err)
		return
	}
	h.Web.Send(v.c, a)
}

func (v *visit) ctx() context.Context { return v.c.Request.Context() }

func (v *visit) param(name string) string { return v.c.Param(name) }

func (v *visit) posted(name string) string { return v.c.Request.PostForm.Get(name) }

// shell is the frame of every page. here is the address of the page itself, which after a
// form is not that of the request.
func (v *visit) shell(title, here string, crumbs ...ui.Crumb) ui.Page {
	page := ui.Page{
		Title:   title,
		Account: v.account,
		Theme:   v.server.Web.Theme(v.c.Request),
		Here:    here,
		Control: v.server.Web.Config.PublicURL,
		Crumbs:  crumbs,
		Rail:    v.server.Web.Cookie(v.c.Request, web.RailCookie) == "true",
	}
	if v.account != nil && v.c.Request.Method != http.MethodHead {
		page.Flash = v.takeFlash()
	}
	return page
}
