package pages

import (
	"net/http"

	"postern/handlers/web"
)

// chooseTheme keeps the theme in a cookie: it belongs to a screen, not to an account.
func (h *Handler) chooseTheme(v *visit) (web.Answer, error) {
	theme := v.posted("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	h.Web.SetCookie(v.c.Writer, web.ThemeCookie, theme, web.ThemeTTL)
	return v.back(), nil
}

// chooseSidebar keeps whether the sidebar shows icons only in a cookie, as the theme.
func (h *Handler) chooseSidebar(v *visit) (web.Answer, error) {
	rail := v.posted("rail")
	if rail != "true" {
		rail = ""
	}
	h.Web.SetCookie(v.c.Writer, web.RailCookie, rail, web.ThemeTTL)
	return v.back(), nil
}

// back redirects to the page that the form was on.
func (v *visit) back() web.Answer {
	to := web.LocalPath(v.posted("return_to"))
	if to == "" {
		to = "/"
	}
	return web.Answer{To: to, Status: http.StatusSeeOther}
}
