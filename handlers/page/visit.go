// Package page has the parts that all pages of the dashboard share: visits, routes, forms, lists and notices.
//
// It owns how a form is read, executed once and shown again with its mistakes, how a list is searched, sorted and
// paged, the notice about a change that succeeded, and the texts and addresses that pages of several families have in
// common. It leaves the pages to the families below handlers/pages, credentials and problems to handlers/web, and
// every decision to the services.
package page

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

// Visit is one request for a page, with what its handler needs.
type Visit struct {
	Gin     *gin.Context
	Who     access.Principal // anonymous on open pages
	Account *ui.Account      // nil on open pages
	State   string           // in the nonce of the form that was sent, "" without one
	Server  *Server
}

// Server has the parts of the server that every page needs.
type Server struct {
	Web         *web.Site
	Accounts    *accounts.Service
	Idempotency *idempotency.Service
	WithCode    func(*Visit) context.Context // has the page that answers a visit show its lines as code
}

// Handler answers a visit. Its errors become error pages.
type Handler func(*Visit) (web.Answer, error)

// open serves a page without requiring a session.
func (s *Server) open(page Handler) gin.HandlerFunc {
	return func(c *gin.Context) { s.answer(&Visit{Gin: c, Server: s}, page) }
}

// RequireSession serves a page to visitors with a session and redirects others to sign-in.
// Bearer tokens are accepted by the API only: a page acts on a person's own sign-in.
func (s *Server) RequireSession(page Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		v := &Visit{Gin: c, Server: s}
		signedIn, err := v.Authenticate()
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

// Authenticate identifies the visitor by the session cookie. It deletes the cookie of a
// session that has ended.
func (v *Visit) Authenticate() (signedIn bool, err error) {
	s, r := v.Server, v.Gin.Request
	session := s.Web.Sessions().Read(r)
	if session == "" {
		return false, nil
	}
	p, err := s.Accounts.BySession(r.Context(), session)
	if err != nil {
		return false, err
	}
	if p.Anonymous() {
		return false, s.Web.Sessions().End(v.Gin.Writer, r)
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
	v.Gin.Request = web.WithPrincipal(r, p)
	v.Who, v.Account = web.Principal(v.Ctx()), showAccount(profile, teams.Items, p.HomeTeam)
	v.Account.Audit = v.Who.May(p.HomeTeam, access.AuditRead)
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

// SelectTeam selects the team of the object on the page.
func (v *Visit) SelectTeam(team string) {
	if v.Who.HomeTeam == team || v.Who.Roles[team] == "" {
		return
	}
	v.RememberTeam(team)
	v.Who.HomeTeam, v.Account.Team = team, ""
	for i := range v.Account.Teams {
		t := &v.Account.Teams[i]
		if t.Chosen = t.Value == team; t.Chosen {
			v.Account.Team = t.Title
		}
	}
}

// redirectToSignIn remembers where the visitor wanted to go; for a form that is the page
// it was on, because its own address may take POST only. htmx would follow a plain
// redirect and put the sign-in page into the middle of the other.
func (v *Visit) redirectToSignIn() {
	r := v.Gin.Request
	next := r.URL.RequestURI()
	if from, err := url.Parse(r.Referer()); (r.Method != http.MethodGet && r.Method != http.MethodHead) ||
		r.Header.Get("HX-Request") != "" {
		next = ""
		if err == nil && from.Host == r.Host {
			next = from.RequestURI()
		}
	}
	to := WithNext("/signin", web.LocalPath(next))
	if r.Header.Get("HX-Request") != "" {
		v.Gin.Header("HX-Redirect", to)
		v.Gin.Status(http.StatusNoContent)
		return
	}
	v.Gin.Redirect(http.StatusSeeOther, to)
}

func (s *Server) answer(v *Visit, page Handler) {
	err := web.ParseForm(v.Gin)
	var a web.Answer
	v.Gin.Request = v.Gin.Request.WithContext(s.WithCode(v))
	if err == nil {
		a, err = page(v)
	}
	if err != nil {
		s.refuseVisit(v, err)
		return
	}
	s.Web.Send(v.Gin, a)
}

// Ctx returns the context of the request.
func (v *Visit) Ctx() context.Context { return v.Gin.Request.Context() }

// Param returns a part of the request's path.
func (v *Visit) Param(name string) string { return v.Gin.Param(name) }

// Posted returns a field of the form that was sent, or "" if it lacks that field.
func (v *Visit) Posted(name string) string { return v.Gin.Request.PostForm.Get(name) }

// Shell is the frame of every page. here is the address of the page itself, which after a
// form is not that of the request.
func (v *Visit) Shell(title, here string, crumbs ...ui.Crumb) ui.Page {
	page := ui.Page{
		Title:   title,
		Account: v.Account,
		Theme:   v.Server.Web.Theme(v.Gin.Request),
		Here:    here,
		Posted:  v.Gin.Request.Method == http.MethodPost,
		Control: v.Server.Web.Config.PublicURL,
		Crumbs:  crumbs,
		Rail:    v.Server.Web.Cookie(v.Gin.Request, web.RailCookie) == "true",
	}
	if v.Account != nil && v.Gin.Request.Method != http.MethodHead {
		page.Flash = v.takeFlash()
	}
	return page
}

// WithNext adds the path that sign-in or sign-up leads to.
func WithNext(path, next string) string {
	if next == "" || next == "/projects" {
		return path
	}
	return path + "?" + url.Values{"next": {next}}.Encode()
}

// RememberTeam keeps the chosen team in a cookie.
func (v *Visit) RememberTeam(team string) {
	if len(team) > web.MaxIDLength {
		team = ""
	}
	v.Server.Web.SetCookie(v.Gin.Writer, web.TeamCookie, team, web.TeamTTL)
}

// rememberClaim keeps the code of a claim page in a cookie until the visitor has signed
// in.
func (v *Visit) rememberClaim() {
	code, ok := strings.CutPrefix(v.Gin.Request.URL.Path, "/claim/")
	if ok && len(code) == web.ClaimCodeLength {
		http.SetCookie(v.Gin.Writer, v.Server.Web.ClaimCodeCookie(v.Server.Web.ClaimCodes(v.Gin.Request), code))
	}
}

// KeepClaimCodes replaces the claim codes in the browser's cookie with fewer.
func (v *Visit) KeepClaimCodes(codes []string) {
	if len(codes) < len(v.Server.Web.ClaimCodes(v.Gin.Request)) {
		v.Server.Web.SetCookie(v.Gin.Writer, web.ClaimCookie, strings.Join(codes, "."), web.ClaimCookieTTL)
	}
}
