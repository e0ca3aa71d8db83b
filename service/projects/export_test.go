package projects

import (
	"context"
	"time"

	"postern/platform/turns"
)

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
