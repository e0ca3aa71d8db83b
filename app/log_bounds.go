package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"postern/models"
	"postern/platform/traces"
)

// Bounds of the log. Errors contain texts of issuers, providers and upstreams, and callers
// decide how often one is logged: without bounds either could fill a disk.
const (
	maxLogText  = 2 << 10  // bytes of a message or of an attribute's text
	maxLogStack = 16 << 10 // bytes of a stack trace

	logEvery    = time.Second // between two lines with one message about one source, or about one outage
	logsPerTime = 10          // lines in logEvery with one message about all sources
	maxSources  = 4096        // that are counted separately
)

// Attributes that name the source of a line: the party that it is about, or the request
// that caused it.
var (
	sourceAttributes  = []string{"asked", "client", "issuer", "webhook"}
	requestAttributes = []string{"request"}
	stackAttributes   = []string{"stack", "trace"}
)

// componentAttribute names a component that logs the database's errors as text: the job queue.
const componentAttribute = "component"

const traceAttribute = "trace_id"

// boundedLog is a slog.Handler that cuts long texts and drops lines if there are too many
// about one source, caused by callers, or due to one outage of the database. The next such line has the number of those
// dropped. Lines below Info are not dropped: an operator has enabled them. A line that is
// logged with the context of a recorded trace has its id.
type boundedLog struct {
	under  slog.Handler
	source string // from WithAttrs, "" for none
	traced bool   // its lines have the id of a trace already
	caused bool   // by a request of a caller
	outage bool   // due to the database
	rates  *logRates
}

func bounded(log *slog.Logger) *slog.Logger {
	return slog.New(boundedLog{under: log.Handler(), rates: &logRates{now: time.Now}})
}

// Enabled implements slog.Handler.
func (b boundedLog) Enabled(ctx context.Context, level slog.Level) bool {
	return b.under.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (b boundedLog) Handle(ctx context.Context, record slog.Record) error {
	record.Attrs(func(a slog.Attr) bool { b.noteSource(a); return true })
	out := slog.NewRecord(record.Time, record.Level, cut(record.Message, maxLogText), record.PC)
	record.Attrs(func(a slog.Attr) bool { out.AddAttrs(boundedAttr(a)); return true })
	if span := traces.Of(ctx); span != nil && !b.traced {
		out.AddAttrs(slog.String(traceAttribute, span.TraceID()))
	}
	if record.Level >= slog.LevelInfo && (b.source != "" || b.caused || b.outage) {
		suppressed, due := b.due(record.Message)
		if !due {
			return nil
		}
		if suppressed > 0 {
			out.AddAttrs(slog.Int("suppressed", suppressed))
		}
	}
	return b.under.Handle(ctx, out)
}

func (b *boundedLog) due(message string) (suppressed int, ok bool) {
	if b.outage {
		return b.rates.dueInOutage()
	}
	return b.rates.due(message, b.source)
}

// WithAttrs implements slog.Handler.
func (b boundedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	kept := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		b.noteSource(a)
		b.traced = b.traced || a.Key == traceAttribute
		kept[i] = boundedAttr(a)
	}
	b.under = b.under.WithAttrs(kept)
	return b
}

// WithGroup implements slog.Handler.
func (b boundedLog) WithGroup(name string) slog.Handler {
	b.under = b.under.WithGroup(name)
	return b
}

func (b *boundedLog) noteSource(a slog.Attr) {
	switch {
	case slices.Contains(sourceAttributes, a.Key):
		b.source = cut(a.Value.String(), maxLogText)
	case slices.Contains(requestAttributes, a.Key):
		b.caused = true
	case a.Key == componentAttribute:
		b.outage = true
	}
	if err, ok := a.Value.Any().(error); ok && models.Unavailable(err) {
		b.outage = true
	}
}

func boundedAttr(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	longest := maxLogText
	if slices.Contains(stackAttributes, a.Key) {
		longest = maxLogStack
	}
	switch value.Kind() {
	case slog.KindString:
		return slog.String(a.Key, cut(value.String(), longest))
	case slog.KindGroup:
		var members []any
		for _, member := range value.Group() {
			members = append(members, boundedAttr(member))
		}
		return slog.Group(a.Key, members...)
	case slog.KindAny:
		if err, ok := value.Any().(error); ok {
			return slog.String(a.Key, cut(err.Error(), longest))
		}
		if text := fmt.Sprint(value.Any()); len(text) > longest {
			return slog.String(a.Key, cut(text, longest))
		}
	}
	return slog.Attr{Key: a.Key, Value: value}
}

// cut shortens a text to at most most bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:end], "?"), len(text))
}

// logRates counts lines by message, and by message and source. Messages are constants.
type logRates struct {
	now func() time.Time

	mu       sync.Mutex
	outage   logRate
	messages map[string]*logRate
	sources  map[[2]string]*logRate
}

// logRate counts the lines of a period, which begins with a line that was written.
type logRate struct {
	since      time.Time
	count      int // of lines that were written
	suppressed int
}

// dueInOutage is due for lines that an outage of the database causes, which every part notices.
func (r *logRates) dueInOutage() (suppressed int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outage.pass(r.now(), 1)
}

// due reports whether a line may be written, and how many like it were dropped before.
func (r *logRates) due(message, source string) (suppressed int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.messages == nil || len(r.messages) >= maxSources {
		r.messages = map[string]*logRate{}
	}
	if r.sources == nil || len(r.sources) >= maxSources {
		r.sources = map[[2]string]*logRate{}
	}
	now := r.now()
	all := r.messages[message]
	if all == nil {
		all = &logRate{}
		r.messages[message] = all
	}
	if source == "" {
		return all.pass(now, logsPerTime)
	}
	one := r.sources[[2]string{message, source}]
	if one == nil {
		one = &logRate{}
		r.sources[[2]string{message, source}] = one
	}
	before, ok := one.pass(now, 1)
	if !ok {
		return 0, false
	}
	overall, ok := all.pass(now, logsPerTime)
	if !ok {
		one.suppressed += before + 1
		return 0, false
	}
	return max(before, overall), true
}

// pass counts a line. A clock that was set back begins a new period.
func (l *logRate) pass(now time.Time, most int) (suppressed int, ok bool) {
	if since := now.Sub(l.since); l.since.IsZero() || since < 0 || since >= logEvery {
		l.since, l.count = now, 0
	}
	if l.count >= most {
		l.suppressed++
		return 0, false
	}
	l.count++
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}
