// Package accesslog writes a line of JSON for each call to the gateway, or for a sample of the calls.
//
// It owns the lines, their redaction, and the file. Lines hold what gateway.Outcome holds:
// no header, no query, no body; keys in paths are masked. It never delays a call: lines are
// gathered in memory and written several times a second, and dropped and counted while the
// file cannot take them.
package accesslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"postern/gateway"
)

const (
	flushEvery = 200 * time.Millisecond
	mostHeld   = 8 << 20 // bytes of lines that are not written yet
	manyHeld   = 1 << 20 // are written at once
	firstHeld  = 64 << 10
	lookEvery  = time.Second // how often the file is looked for, which a rotation moves away
)

// Options configure a Log.
type Options struct {
	Path  string // of the file, which is appended to; "" for Out
	Out   io.Writer
	Every int // logs one in this many calls, and each with a status of 500 or above
	Log   *slog.Logger
}

// Log is an access log. Create one with Open. It is safe for concurrent use.
type Log struct {
	options Options
	file    *os.File // nil for Out
	looked  time.Time
	failing bool

	wake    chan struct{} // has one when much is held
	calls   atomic.Uint64
	dropped atomic.Int64

	mu      sync.Mutex
	pending []byte
	spare   []byte // written already; used again
}

// Open opens the file of the log, and creates it readable by its owner and group.
func Open(o Options) (*Log, error) {
	l := &Log{
		options: o,
		wake:    make(chan struct{}, 1),
		pending: make([]byte, 0, firstHeld),
		spare:   make([]byte, 0, firstHeld),
	}
	if o.Path == "" {
		return l, nil
	}
	var err error
	if l.file, err = open(o.Path); err != nil {
		return nil, fmt.Errorf("cannot write the access log (%w): choose another file with --access-log-file or "+
			"POSTERN_ACCESS_LOG_FILE", err)
	}
	return l, nil
}

func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640) //nolint:gosec // a group reads it
}

// Observe logs a finished call, if it is in the sample.
func (l *Log) Observe(out gateway.Outcome) {
	n := l.calls.Add(1)
	if out.Status < 500 && l.options.Every > 1 && n%uint64(l.options.Every) != 0 {
		return
	}
	var space [1 << 10]byte
	line := appendLine(space[:0], out)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending)+len(line) > mostHeld {
		l.dropped.Add(1)
		return
	}
	l.pending = append(l.pending, line...)
	if len(l.pending) > manyHeld {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Dropped returns how many lines were lost, because the file could not be written in time.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// Run writes the lines until ctx ends, and then those that are left.
func (l *Log) Run(ctx context.Context) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			l.flush()
			return
		case <-l.wake:
			l.flush()
		case <-ticker.C:
			l.reopen()
			l.flush()
		}
	}
}

// Close writes the remaining lines and closes the file.
func (l *Log) Close() error {
	l.flush()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// flush writes the lines that were gathered. A line that was cut off by an error is ended,
// so that the next one begins a line.
func (l *Log) flush() {
	l.mu.Lock()
	lines := l.pending
	l.pending, l.spare = l.spare[:0], nil
	l.mu.Unlock()
	if len(lines) > 0 {
		l.write(lines)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if cap(lines) > 4*manyHeld {
		lines = make([]byte, 0, firstHeld) // a burst must not keep its memory forever
	}
	l.spare = lines[:0]
}

func (l *Log) write(lines []byte) {
	out := l.options.Out
	if l.file != nil {
		out = l.file
	}
	n, err := out.Write(lines)
	if err == nil {
		if l.failing {
			l.options.Log.Info("the access log can be written again", "lost", l.dropped.Load())
		}
		l.failing = false
		return
	}
	for _, b := range lines[n:] {
		if b == '\n' {
			l.dropped.Add(1)
		}
	}
	if n > 0 && lines[n-1] != '\n' {
		_, _ = out.Write([]byte{'\n'}) // fails like the write before it, most likely
	}
	if !l.failing {
		l.options.Log.Error("could not write the access log; calls continue without it", "error", err)
	}
	l.failing = true
}

// reopen opens the file again after a program such as logrotate has moved it away.
func (l *Log) reopen() {
	if l.file == nil || time.Since(l.looked) < lookEvery {
		return
	}
	l.looked = time.Now()
	there, err := os.Stat(l.options.Path)
	if err == nil {
		ours, failed := l.file.Stat()
		if failed == nil && os.SameFile(there, ours) {
			return
		}
	}
	next, err := open(l.options.Path)
	if err != nil {
		if !l.failing {
			l.options.Log.Error("could not reopen the access log", "error", err)
		}
		l.failing = true
		return
	}
	l.flush() // to the file that these lines belong to
	err = errors.Join(l.file.Sync(), l.file.Close())
	if err != nil {
		l.options.Log.Warn("the end of the previous access log may be lost", "error", err)
	}
	l.file = next
}
