package projects

import (
	"runtime"
	"time"

	"postern/core/snapshot"
	"postern/models"
)

// Serve makes the feed serve a project that is not in the database.
func (f *Feed) Serve(project *snapshot.Project) { f.published([]*snapshot.Project{project}) }

// CompileTogether compiles projects of rows that were read for all of them.
func CompileTogether(tx *models.Tx, ids []string, publicURL string) ([]*snapshot.Project, error) {
	rows, err := rowsOf(tx, ids)
	if err != nil {
		return nil, err
	}
	var out []*snapshot.Project
	for _, id := range ids {
		project, err := rows.compile(id, publicURL)
		if err != nil {
			return nil, err
		}
		out = append(out, project)
	}
	return out, nil
}

// FillDocumentPlaces takes all places for work on documents, so that others are refused at once, and forgets what is
// known of documents. The function that it returns gives the places up.
func (s *Service) FillDocumentPlaces() (leave func()) {
	w := &s.documents
	w.mu.Lock()
	w.verdicts, w.order = nil, nil
	w.mu.Unlock()
	w.places.mu.Lock()
	defer w.places.mu.Unlock()
	free := max(1, runtime.GOMAXPROCS(0)/2)
	w.places.within, w.places.busy = time.Nanosecond, free
	return func() {
		for range free {
			w.places.leave()
		}
	}
}
