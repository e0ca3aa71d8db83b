package web

import (
	"context"
	"errors"

	"postern/models"
	"postern/platform/fault"
)

// LogCause logs the cause of an error that the answer does not show.
func (s *Site) LogCause(ctx context.Context, err error) {
	_, refused := errors.AsType[*Problem](err)
	switch {
	case ctx.Err() != nil: // the caller is gone
	case refused: // the answer says it all
	case models.Unavailable(err):
		s.logOf(ctx).Error("the database isn't responding", "error", err)
	case fault.KindOf(err) == fault.Internal:
		s.logOf(ctx).Error("a request failed", "error", err)
	}
}
