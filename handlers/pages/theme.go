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
	to := web.LocalPath(v.posted("return_to"))
	if to == "" {
		to = "/"
	}
	return web.Answer{To: to, Status: http.StatusSeeOther}, nil
}
