package handlers

import (
	"net/http"

	"postern/views/errorpage"
	"postern/views/ui"
)

// respond sends a problem in the form its reader takes: a person at a browser
// gets a page, a program JSON.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, err error) {
	note(r.Context(), err)
	if !wantsPage(r) {
		writeProblem(w, r, err)
		return
	}
	s.respondPage(w, r, err, nil)
}

// respondPage sends a problem as a page, with the form that it refuses if there is one.
func (s *Server) respondPage(w http.ResponseWriter, r *http.Request, err error, refused *errorpage.Form) {
	setRetryAfter(w.Header(), err)
	problem := problemOf(err, requestID(r.Context()))
	m := errorpage.Problem{
		Page:    ui.Page{Title: problem.Title, Theme: s.theme(r), Here: "/"},
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
