package projects

import (
	"context"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/turns"
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

// FillDocumentPlaces takes all places for work on documents, so that others are refused at once. The function that it
// returns gives the places up.
func (s *Service) FillDocumentPlaces() (leave func()) {
	s.documents.Within = time.Nanosecond
	var taken []func()
	for range turns.Most() {
		if leave, err := s.documents.Take(context.Background(), ""); err == nil {
			taken = append(taken, leave)
		}
	}
	return func() {
		for _, leave := range taken {
			leave()
		}
	}
}
