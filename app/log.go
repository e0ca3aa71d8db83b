package app

import (
	"context"
	"log/slog"
	"strings"
)

// warnings is a handler that drops records below Warn. River logs each of its steps at Info.
type warnings struct{ slog.Handler }

func quiet(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler. It drops errors of canceled contexts, which every stop
// causes.
func (w warnings) Handle(ctx context.Context, record slog.Record) error {
	cancelled := strings.Contains(record.Message, context.Canceled.Error())
	record.Attrs(func(a slog.Attr) bool {
		cancelled = cancelled || strings.Contains(a.Value.String(), context.Canceled.Error())
		return !cancelled
	})
	if cancelled {
		return nil
	}
	return w.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
