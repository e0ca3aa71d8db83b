package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/idempotency"
	"postern/views/ui"
)

// visit is one request for a page, with what its handler needs.
type visit struct {
	c       *gin.Context
	who     access.Principal // anonymous on open pages
	account *ui.Account      // nil on open pages
	state   string           // in the nonce of the form that was sent, "" without one
	server  *server
}

// server is what every page needs of the server.
type server struct {
	Web         *web.Site
	Accounts    *accounts.Service
	Idempotency *idempotency.Service
	WithCode    func(*visit) context.Context // has the page that answers a visit show its lines as code
}

// pageHandler answers a visit. Its errors become error pages.
type pageHandler func(*visit) (web.Answer, error)

// open serves a page without requiring a session.
func (s *server) open(page pageHandler) gin.HandlerFunc {
	return func(c *gin.Context) { s.answer(&visit{c: c, server: s}, page) }
}

// requireSession serves a page to visitors with a session and redirects others to sign-in.
// Bearer tokens are accepted by the API only: a page acts on a person's own sign-in.
func (s *server) requireSession(page pageHandler) gin.HandlerFunc {
	return func(c *gin.Context) {
		v := &visit{c: c, server: s}
		signedIn, err := v.authenticate()
		switch {
		case err != nil:
			s.Web.Refuse(c, err)
		case !signedIn:
			v.rememberClaim()
			v.redirectToSignIn()
		default:
			s.answer(v, page)
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

func (s *server) answer(v *visit, page pageHandler) {
	err := web.ParseForm(v.c)
	var a web.Answer
	v.c.Request = v.c.Request.WithContext(s.WithCode(v))
	if err == nil {
		a, err = page(v)
	}
	if err != nil {
		s.refuseVisit(v, err)
		return
	}
	s.Web.Send(v.c, a)
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

// withNext adds the path that sign-in or sign-up leads to.
func withNext(path, next string) string {
	if next == "" || next == "/projects" {
		return path
	}
	return path + "?" + url.Values{"next": {next}}.Encode()
}

func (v *visit) rememberTeam(team string) {
	if len(team) > web.MaxIDLength {
		team = ""
	}
	v.server.Web.SetCookie(v.c.Writer, web.TeamCookie, team, web.TeamTTL)
}

// rememberClaim keeps the code of a claim page in a cookie until the visitor has signed
// in.
func (v *visit) rememberClaim() {
	code, ok := strings.CutPrefix(v.c.Request.URL.Path, "/claim/")
	if ok && len(code) == web.ClaimCodeLength {
		http.SetCookie(v.c.Writer, v.server.Web.ClaimCodeCookie(v.server.Web.ClaimCodes(v.c.Request), code))
	}
}

// keepClaimCodes replaces the claim codes in the browser's cookie with fewer.
func (v *visit) keepClaimCodes(codes []string) {
	if len(codes) < len(v.server.Web.ClaimCodes(v.c.Request)) {
		v.server.Web.SetCookie(v.c.Writer, web.ClaimCookie, strings.Join(codes, "."), web.ClaimCookieTTL)
	}
}
