package web

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

// Answer is a page, or a local path to go on to; the zero answer means that the
// handler wrote the response itself.
type Answer struct {
	Status int
	Page   templ.Component
	To     string
	Flash  string // a key of flashes, said on the page that to leads to
}

func Show(page templ.Component) Answer { return Answer{Status: http.StatusOK, Page: page} }

// Redirect leads on with 303, which makes the browser ask with GET (RFC 9110, 15.4.4).
func Redirect(path string) Answer { return Answer{Status: http.StatusSeeOther, To: path} }

// PageFunc answers a request with a page. Its errors become error pages.
type PageFunc func(*gin.Context) (Answer, error)

// Page serves a page without looking for a session.
func (s *Site) Page(page PageFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := ParseForm(c)
		var a Answer
		if err == nil {
			a, err = page(c)
		}
		if err != nil {
			s.Refuse(c, err)
			return
		}
		s.Send(c, a)
	}
}

// Send writes an answer. The zero answer means that the handler wrote it itself.
func (s *Site) Send(c *gin.Context, a Answer) {
	switch {
	case a.To != "":
		if a.Flash != "" {
			s.SetCookie(c.Writer, FlashCookie, a.Flash, flashTTL)
		}
		c.Redirect(a.Status, a.To)
	case a.Page != nil:
		s.render(c.Writer, c.Request, a.Status, a.Page)
	}
}

// ParseForm reads the form, within the same bounds as addresses (textOnly).
func ParseForm(c *gin.Context) error {
	if err := c.Request.ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return fault.New(fault.TooLarge, "too_large", "The form is larger than 1 MiB.").Because(err)
		}
		return fault.New(fault.Malformed, "malformed", "The form could not be read.").Because(err)
	}
	for name, values := range c.Request.PostForm {
		if !ValidText(name) || !ValidText(values...) {
			return fault.New(fault.Malformed, "malformed", "The form holds characters that are no text.")
		}
	}
	return nil
}

// render writes a page whole or not at all.
func (s *Site) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var buffer bytes.Buffer
	if err := page.Render(ui.WithNonces(r.Context(), s.nonces(r)), &buffer); err != nil {
		s.LogCause(r.Context(), fmt.Errorf("render %s: %w", RedactPath(r.URL.Path), err))
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = buffer.WriteTo(w) // the caller is gone when this fails
}

// LocalPath returns a path of this server, "" for anything that leads elsewhere.
// Browsers read \ as / and drop tabs and line ends, so //host hides in many
// spellings.
func LocalPath(to string) string {
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
