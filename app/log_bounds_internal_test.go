package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"postern/platform/traces"
	"postern/testkit"
	"postern/testkit/servers"
)

// newBoundedLog writes to the buffer; its clock is what now points at.
func newBoundedLog(into *bytes.Buffer, now *time.Time) *slog.Logger {
	under := slog.NewTextHandler(into, &slog.HandlerOptions{Level: slog.LevelDebug})
	return slog.New(boundedLog{under: under, rates: &logRates{now: func() time.Time { return *now }}})
}

func TestBoundedLog_length(t *testing.T) {
	long := strings.Repeat("é", 450_000)
	for name, write := range testkit.ByName(map[string]func(*slog.Logger){
		"message":        func(l *slog.Logger) { l.Error(long) },
		"text":           func(l *slog.Logger) { l.Error("m", "a", long) },
		"error":          func(l *slog.Logger) { l.Error("m", "error", errors.New(long)) },
		"bytes":          func(l *slog.Logger) { l.Error("m", "a", []byte(long)) },
		"stack":          func(l *slog.Logger) { l.Error("m", "stack", strings.Repeat("x", 1<<20)) },
		"With":           func(l *slog.Logger) { l.With("a", long).Error("m") },
		"group":          func(l *slog.Logger) { l.Error("m", slog.Group("g", "a", long)) },
		"in a WithGroup": func(l *slog.Logger) { l.WithGroup("g").Error("m", "a", long) },
	}) {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			now := time.Now()
			write(newBoundedLog(&out, &now))
			most := maxLogText + 300
			if name == "stack" {
				most = maxLogStack + 300
			}
			if out.Len() == 0 || out.Len() > most || !strings.Contains(out.String(), " bytes)") {
				t.Errorf("%d bytes: %.200s", out.Len(), out.String())
			}
		})
	}
}

func TestBoundedLog_rate(t *testing.T) {
	var out bytes.Buffer
	now := time.Now()
	log := newBoundedLog(&out, &now)
	lines := func() int {
		defer out.Reset()
		return strings.Count(out.String(), "\n")
	}
	for _, tc := range []struct {
		name  string
		write func(i int)
		want  int // of 100
	}{
		{"one source", func(int) { log.Warn("one", "issuer", "a") }, 1},
		{"source of With", func(int) { log.With("client", "a").Warn("with") }, 1},
		{"another source each", func(i int) { log.Warn("each", "issuer", fmt.Sprint(i)) }, logsPerTime},
		{"requests", func(i int) { log.Error("failed", "request", fmt.Sprint(i)) }, logsPerTime},
		{"neither", func(int) { log.Error("ours") }, 100},
		{"below Info", func(int) { log.Debug("debug", "request", "x") }, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for i := range 100 {
				tc.write(i)
			}
			if got := lines(); got != tc.want {
				t.Errorf("%d lines of 100, want %d", got, tc.want)
			}
		})
	}
	t.Run("left out lines are counted", func(t *testing.T) {
		now = now.Add(logEvery)
		log.Warn("one", "issuer", "a")
		if got := out.String(); !strings.Contains(got, "suppressed=99") {
			t.Errorf("the next line: %s", got)
		}
	})
}

// A line that is logged with the context of a recorded trace has its id, once.
func TestBoundedLog_trace(t *testing.T) {
	tracer, err := traces.Open(traces.Options{
		Endpoint: servers.StartCollector(t).URL, Ratio: 1, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close(context.Background())
	ctx, span := tracer.Begin(t.Context(), traces.Begin{Name: "request"})
	var out bytes.Buffer
	now := time.Now()
	log := newBoundedLog(&out, &now)
	log.ErrorContext(ctx, "recorded")
	log.With("trace_id", span.TraceID()).ErrorContext(ctx, "named already")
	log.ErrorContext(t.Context(), "not recorded")
	lines := strings.Split(out.String(), "\n")
	for i, want := range []int{1, 1, 0} {
		if got := strings.Count(lines[i], "trace_id="); got != want {
			t.Errorf("%d ids of traces, want %d: %s", got, want, lines[i])
		}
	}
}

// An outage of the database is noticed by every part, and logged once a second by all of them together.
func TestBoundedLog_outage(t *testing.T) {
	var out bytes.Buffer
	now := time.Now()
	log := newBoundedLog(&out, &now)
	down := fmt.Errorf("open: %w", &pgconn.ConnectError{Config: &pgconn.Config{}})
	queue := log.With("component", "job queue")
	write := func() {
		for range 10 {
			log.Warn("changes in the database can't be read", "error", down)
			log.Error("the database isn't responding", "request", "req_1", "error", down)
			log.With("issuer", "a").Warn("an issuer's keys cannot be read", "error", down)
			queue.Error("Producer: Error fetching jobs", "err", "connection refused")
		}
	}
	write()
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines in a second, want 1:\n%s", n, &out)
	}
	log.Warn("the disk is full", "error", errors.New("no space left on device"))
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("a line about something else is left out:\n%s", &out)
	}
	out.Reset()
	now = now.Add(logEvery)
	write()
	if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), "suppressed=39") {
		t.Errorf("%d lines a second later, want one that counts 39:\n%s", n, &out)
	}
}
