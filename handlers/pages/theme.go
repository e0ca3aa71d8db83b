package pages

import (
	"net/http"

	"postern/handlers/page"
	"postern/handlers/web"
)

// chooseTheme keeps the theme in a cookie: it belongs to a screen, not to an account.
func (h *Handler) chooseTheme(v *page.Visit) (web.Answer, error) {
	theme := v.Posted("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	h.Web.SetCookie(v.Gin.Writer, web.ThemeCookie, theme, web.ThemeTTL)
	return back(v), nil
}

// chooseSidebar keeps whether the sidebar shows icons only in a cookie, as the theme.
func (h *Handler) chooseSidebar(v *page.Visit) (web.Answer, error) {
	rail := v.Posted("rail")
	if rail != "true" {
		rail = ""
	}
	h.Web.SetCookie(v.Gin.Writer, web.RailCookie, rail, web.ThemeTTL)
	return back(v), nil
}

// back redirects to the page that the form was on.
func back(v *page.Visit) web.Answer {
	to := web.LocalPath(v.Posted("return_to"))
	if to == "" {
		to = "/"
	}
	return web.Answer{To: to, Status: http.StatusSeeOther}
}
