package web

import (
	"net/http"

	"postern/views/errorpage"
	"postern/views/ui"
)

// WriteProblem sends a problem in the form its reader takes: a person at a browser
// gets a page, a program JSON.
func (s *Site) WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	RecordError(r.Context(), err)
	if !WantsPage(r) {
		writeProblemJSON(w, r, err)
		return
	}
	s.WriteProblemPage(w, r, err, nil)
}

// WriteProblemPage sends a problem as a page, with the form that it refuses if there is one.
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
		m.Text = "" // the page's own says more
	case problem.Status >= http.StatusInternalServerError:
		m.RequestID = problem.RequestID
	}
	s.render(w, r, problem.Status, errorpage.ProblemPage(m))
}
