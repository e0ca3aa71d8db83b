package web

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/dustin/go-humanize"
	"github.com/gin-gonic/gin"

	"postern/platform/fault"
	"postern/views/ui"
)

// Answer is the answer of a page's handler: Page, or a redirect to To. The zero Answer means that the handler has
// written the response itself.
type Answer struct {
	Status int
	Page   templ.Component
	To     string // a local path, or an address that was validated
	Flash  string // cookie of the message to show on the page at To
}

// Show returns the answer of a page with status 200.
func Show(page templ.Component) Answer { return Answer{Status: http.StatusOK, Page: page} }

// Redirect returns a redirect with 303, which the browser follows with GET (RFC 9110,
// 15.4.4).
func Redirect(path string) Answer { return Answer{Status: http.StatusSeeOther, To: path} }

// PageFunc answers a request with a page. Its errors become error pages.
type PageFunc func(*gin.Context) (Answer, error)

// Page returns the handler of a page that needs no session.
func (s *Site) Page(page PageFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := ParseForm(c); err != nil {
			s.Refuse(c, err)
			return
		}
		answer, err := page(c)
		if err != nil {
			s.Refuse(c, err)
			return
		}
		s.Send(c, answer)
	}
}

// Send writes an answer, and nothing for the zero Answer.
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

// ParseForm reads the form into c.Request.PostForm. It refuses NUL and invalid UTF-8, as
// RequireValidText does in addresses.
func ParseForm(c *gin.Context) error {
	if err := c.Request.ParseForm(); err != nil {
		if beyond, ok := errors.AsType[*http.MaxBytesError](err); ok {
			limit := strings.Replace(humanize.IBytes(uint64(beyond.Limit)), ".0", "", 1)
			return fault.New(fault.TooLarge, "too_large", "The form is larger than %s.", limit).Because(err)
		}
		return fault.New(fault.Malformed, "malformed", "The form can't be read.").Because(err)
	}
	for name, values := range c.Request.PostForm {
		if !ValidText(name) || !ValidText(values...) {
			return fault.New(fault.Malformed, "malformed", "The form contains a NUL character or invalid UTF-8.")
		}
	}
	return nil
}

// CheckFields refuses a form with a field that is not known: it would be ignored. Invalid unknown_field.
func CheckFields(form url.Values, known map[string]bool) error {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if !known[name] {
			unknown = append(unknown, fmt.Sprintf("%.100q", name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "unknown_field", "The form has unknown fields: %s.",
		strings.Join(unknown[:min(len(unknown), 20)], ", "))
}

// render writes a page, or an error if it cannot be rendered completely.
func (s *Site) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var buffer bytes.Buffer
	if err := page.Render(ui.WithNonces(r.Context(), s.nonces(r)), &buffer); err != nil {
		s.LogCause(r.Context(), fmt.Errorf("render %s: %w", RedactPath(r.URL.Path), err))
		http.Error(w, "The page can't be rendered.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	writePage(w, r, status, buffer.Bytes())
}

// LocalPath returns to if it is a path on this server, and "" otherwise (open redirect).
// Browsers read \ as / and drop tabs and line ends, so that //host has many spellings.
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
