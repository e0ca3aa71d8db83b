package projects

import (
	"context"
	"errors"
	"time"

	"postern/core/openapi"
	"postern/core/openapi/validate"
	"postern/platform/fault"
	"postern/platform/turns"
	"postern/service/access"
)

// checkedDocument is a document that was read, with the cost of reading it.
type checkedDocument struct {
	*openapi.Document

	unchecked []validate.Unchecked
	budget    *openapi.Budget
}

// documentTeam returns the team in whose turn a principal's documents are read: all unclaimed workspaces are one.
func documentTeam(p access.Principal) string {
	if unclaimed(p) {
		return ""
	}
	return p.HomeTeam
}

// takePlace waits for a place to work on documents, which leave gives up. Its error is Unavailable with the code busy
// if there is none in time.
func (s *Service) takePlace(ctx context.Context, p access.Principal) (leave func(), err error) {
	leave, err = s.documents.Take(ctx, documentTeam(p))
	if errors.Is(err, turns.ErrBusy) {
		err = fault.New(fault.Unavailable, "busy", "Too many OpenAPI documents are being processed. Try again in a "+
			"few seconds.").After(placeAgain)
	}
	return leave, err
}

// placeAgain is after how long a request that gets no place should come again.
const placeAgain = 5 * time.Second
