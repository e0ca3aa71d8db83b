package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/views/errorpage"
	"postern/views/ui"
)

// Refuse ends a request with an error: it logs the cause and writes the problem.
func (s *Site) Refuse(c *gin.Context, err error) {
	s.LogCause(c.Request.Context(), err)
	c.Abort()
	s.WriteProblem(c.Writer, c.Request, err)
}

// WriteProblem answers with an error: as a page for a browser, as JSON (RFC 9457) for
// clients of the API.
func (s *Site) WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	RecordError(r.Context(), err)
	if !WantsPage(r) {
		writeProblemJSON(w, r, err)
		return
	}
	s.WriteProblemPage(w, r, err, nil)
}

// WantsPage reports whether a request comes from a browser that navigates.
func WantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/proxy" &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// WriteProblemPage answers with an error as a page. refused is the form that was
// refused, to send it again, or nil.
func (s *Site) WriteProblemPage(w http.ResponseWriter, r *http.Request, err error, refused *errorpage.Form) {
	SetRetryAfter(w.Header(), err)
	problem := ProblemOf(err, RequestID(r.Context()))
	m := errorpage.Problem{
		Page:    ui.Page{Title: problem.Title, Theme: s.Theme(r), Here: "/"},
		Status:  problem.Status,
		Text:    problem.Detail,
		Refused: refused,
	}
	if r.Method == http.MethodGet {
		m.Page.Here = r.URL.RequestURI()
	}
	switch {
	case problem.Status == http.StatusNotFound || problem.Status == http.StatusMethodNotAllowed:
		m.Text = "" // the page has its own text for these
	case problem.Status >= http.StatusInternalServerError:
		m.RequestID = problem.RequestID
	}
	s.render(w, r, problem.Status, errorpage.ProblemPage(m))
}
