package jobs

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"sync/atomic"
)

// riverLog is the handler of what River logs. Once the workers stop, River's own transactions end with their context,
// and it logs their commits as errors although nothing is wrong.
type riverLog struct {
	slog.Handler

	stopping *atomic.Bool
}

// Handle implements slog.Handler.
func (h riverLog) Handle(ctx context.Context, r slog.Record) error {
	if h.stopping.Load() && endedByStop(r) {
		r.Level = slog.LevelDebug
		if !h.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h riverLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return riverLog{h.Handler.WithAttrs(attrs), h.stopping}
}

// WithGroup implements slog.Handler.
func (h riverLog) WithGroup(name string) slog.Handler {
	return riverLog{h.Handler.WithGroup(name), h.stopping}
}

// endedByStop reports whether a record says that a transaction or a context is over.
func endedByStop(r slog.Record) (ended bool) {
	r.Attrs(func(a slog.Attr) bool {
		text := a.Value.String()
		ended = strings.Contains(text, sql.ErrTxDone.Error()) || strings.Contains(text, context.Canceled.Error())
		return !ended
	})
	return ended
}
