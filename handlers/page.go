package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"postern/platform/fault"
	"postern/views/ui"
)

// answer is a page, or a local path to go on to; the zero answer means that the
// handler wrote the response itself.
type answer struct {
	status int
	page   templ.Component
	to     string
	flash  string // a key of flashes, said on the page that to leads to
}

func show(page templ.Component) answer { return answer{status: http.StatusOK, page: page} }

// goTo leads on with 303, which makes the browser ask with GET (RFC 9110, 15.4.4).
func goTo(path string) answer { return answer{status: http.StatusSeeOther, to: path} }

// pageFunc answers a request with a page. Its errors become error pages.
type pageFunc func(*gin.Context) (answer, error)

// page serves a page without looking for a session.
func (s *Server) page(page pageFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := parseForm(c)
		var a answer
		if err == nil {
			a, err = page(c)
		}
		if err != nil {
			s.refuse(c, err)
			return
		}
		s.send(c, a)
	}
}

// send writes an answer. The zero answer means that the handler wrote it itself.
func (s *Server) send(c *gin.Context, a answer) {
	switch {
	case a.to != "":
		if a.flash != "" {
			s.setCookie(c.Writer, flashCookie, a.flash, flashTTL)
		}
		c.Redirect(a.status, a.to)
	case a.page != nil:
		s.render(c.Writer, c.Request, a.status, a.page)
	}
}

// parseForm reads the form, within the same bounds as addresses (textOnly).
func parseForm(c *gin.Context) error {
	if err := c.Request.ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return fault.New(fault.TooLarge, "too_large", "The form is larger than 1 MiB.").Because(err)
		}
		return fault.New(fault.Malformed, "malformed", "The form could not be read.").Because(err)
	}
	for name, values := range c.Request.PostForm {
		if !isText(name) || !isText(values...) {
			return fault.New(fault.Malformed, "malformed", "The form holds characters that are no text.")
		}
	}
	return nil
}

// render writes a page whole or not at all.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var buffer bytes.Buffer
	if err := page.Render(ui.WithNonces(r.Context(), s.nonces(r)), &buffer); err != nil {
		s.logCause(r.Context(), fmt.Errorf("render %s: %w", logPath(r.URL.Path), err))
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = buffer.WriteTo(w) // the caller is gone when this fails
}

// localPath returns a path of this server, "" for anything that leads elsewhere.
// Browsers read \ as / and drop tabs and line ends, so //host hides in many
// spellings.
func localPath(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return ""
	}
	if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return ""
	}
	if u, err := url.Parse(to); err != nil || u.Host != "" || u.Scheme != "" {
		return ""
	}
	return to
}
