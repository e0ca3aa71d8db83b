package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"postern/models"
	"postern/platform/scratch"
)

const (
	streamEvery = time.Second     // how often new entries are looked for
	streamPause = time.Minute     // the longest pause after errors
	streamLast  = 5 * time.Second // for the entries that are left when the server stops
	streamBatch = 200             // entries that are delivered at a time
)

// Sink stores lines of the stream. It returns nil once they are stored.
type Sink interface {
	Deliver(ctx context.Context, lines []byte) error
}

// Stream delivers the entries of all chains to a sink, each at least once, in the order of their chain. A line is
// {"hash":…,"entry":…}: the hash is the SHA-256 of the entry's bytes, and the entry's member Previous is the hash of
// the line before it in its chain.
type Stream struct {
	DB       *models.DB
	Name     string // for the log
	Sink     Sink
	Position string // file with the position of the last delivery
	Log      *slog.Logger

	failing bool
}

// Run delivers entries until ctx ends, and then the remaining ones.
func (s *Stream) Run(ctx context.Context) {
	pause := streamEvery
	for {
		select {
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), streamLast)
			defer stop()
			s.report(s.Once(last))
			return
		case <-time.After(pause):
		}
		err := s.Once(ctx)
		if ctx.Err() != nil {
			continue
		}
		s.report(err)
		if pause = streamEvery; err != nil {
			pause = min(streamPause, 10*streamEvery)
		}
	}
}

// report logs the first error in a row, and its end.
func (s *Stream) report(err error) {
	if err != nil && !s.failing {
		s.Log.Error("could not deliver the audit stream; retrying", "stream", s.Name, "error", err)
	}
	if err == nil && s.failing {
		s.Log.Info("the audit stream is being delivered again", "stream", s.Name)
	}
	s.failing = err != nil
}

// Once delivers the entries that haven't been delivered yet.
func (s *Stream) Once(ctx context.Context) error {
	position, err := s.read()
	if err != nil {
		return err
	}
	chains, err := s.DB.Read(ctx).AuditChains()
	if err != nil {
		return fmt.Errorf("audit: read the ends of the chains: %w", err)
	}
	for _, chain := range chains {
		at := position[chain.TeamID]
		if chain.Number < at.Number {
			s.Log.Warn("an audit log is shorter than its delivered part; the database was probably restored",
				"stream", s.Name, "team", chain.TeamID)
			position[chain.TeamID] = Head{chain.Number, chain.Hash}
		}
		if position[chain.TeamID].Number < chain.Number {
			if err := s.skipRemoved(ctx, chain.TeamID, position); err != nil {
				return err
			}
		}
		for at = position[chain.TeamID]; at.Number < chain.Number; {
			if at, err = s.deliver(ctx, chain.TeamID, at); err != nil {
				return err
			}
			position[chain.TeamID] = at
			if err := s.write(position); err != nil {
				return err
			}
		}
	}
	return nil
}

// afterAllIDs sorts after every id.
const afterAllIDs = "~"

// skipRemoved moves the position of a chain to its start, if retention has removed entries
// that were not delivered: before the stream was set up, or by a process without it.
func (s *Stream) skipRemoved(ctx context.Context, team string, position map[string]Head) error {
	start, err := startOf(s.DB.Read(ctx), team)
	if err != nil {
		return fmt.Errorf("audit: find the start of the chain of %q: %w", team, err)
	}
	if at := position[team]; at.Number < start.Number {
		s.Log.Warn("retention removed audit entries before they were delivered",
			"stream", s.Name, "team", team, "entries", start.Number-at.Number)
		position[team] = start
	}
	return nil
}

// deliver delivers the next entries of a chain, and returns the last of them.
func (s *Stream) deliver(ctx context.Context, team string, at Head) (Head, error) {
	last := models.AuditEntry{TeamID: team, Number: at.Number, ID: afterAllIDs}
	entries, err := s.DB.Read(ctx).AuditAfter(last, streamBatch)
	if err != nil {
		return at, fmt.Errorf("audit: read the chain of %q: %w", team, err)
	}
	if len(entries) == 0 {
		return at, fmt.Errorf("audit: the chain of %q ends at %d, before its recorded end", team, at.Number)
	}
	var lines bytes.Buffer
	for _, e := range entries {
		text, err := e.ChainText(at.Hash)
		if err != nil {
			return at, err
		}
		fmt.Fprintf(&lines, `{"hash":%q,"entry":%s}`+"\n", e.Hash, text)
		at = Head{e.Number, e.Hash}
	}
	if err := s.Sink.Deliver(ctx, lines.Bytes()); err != nil {
		return at, fmt.Errorf("audit: deliver to %s: %w", s.Name, err)
	}
	return at, nil
}

// read returns the last delivered entry of each chain; a stream that is new begins at the
// first entries.
func (s *Stream) read() (map[string]Head, error) {
	position := map[string]Head{}
	text, err := os.ReadFile(s.Position)
	if errors.Is(err, fs.ErrNotExist) {
		return position, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &position)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: read the position of the stream: %w", err)
	}
	return position, nil
}

func (s *Stream) write(position map[string]Head) error {
	text, err := json.Marshal(position)
	if err != nil {
		return err
	}
	part, err := scratch.File(filepath.Dir(s.Position))
	if err != nil {
		return fmt.Errorf("audit: save the position of the stream: %w", err)
	}
	if _, err = part.Write(text); err != nil {
		scratch.Discard(part)
	} else {
		err = scratch.Place(part, s.Position)
	}
	if err != nil {
		return fmt.Errorf("audit: save the position of the stream: %w", err)
	}
	return nil
}
