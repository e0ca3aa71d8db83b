package app

import (
	"context"
	"log/slog"
)

// warnings lets nothing below a warning through: the job queue tells of its
// every step at the level of information.
type warnings struct{ slog.Handler }

func quiet(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
