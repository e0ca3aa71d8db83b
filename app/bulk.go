package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"postern/bundle"
	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/platform/nice"
	"postern/service/exports"
)

// Exports of many rows are written by another process of the same program. It has a low
// priority, which a part of a process cannot have: goroutines share threads, and a collection of
// garbage stops all of them. The two speak over its standard input and output; nothing secret is in its
// arguments or its environment.

const (
	// bulkMemory is a soft limit: near it the process collects more garbage.
	bulkMemory = 256 << 20

	// bulkFrame is how much of a zip is passed on at a time.
	bulkFrame = 256 << 10

	// bulkReports bounds how often progress is passed on.
	bulkReports = 100 * time.Millisecond

	// endWithin is how long the pipes of a process that was ended may stay open.
	endWithin = 5 * time.Second
)

// exportOrder is the order for the other process. encoding/gob writes secrets in plain text.
type exportOrder struct {
	Config  config.Config
	Version string
	Export  models.Export
}

// exportFrame is a part of the answer: one of its fields.
type exportFrame struct {
	Zip      []byte
	Progress *exportProgress
	Result   *bundle.Result // the last frame, unless Failed is
	Failed   *exportFailure
}

type exportProgress struct {
	Part        string
	Done, Total int64
}

type exportFailure struct {
	Text  string
	Fault *fault.Error
}

// bulkExports has exports written by another process.
type bulkExports struct {
	command func(context.Context) *exec.Cmd // runs BuildExport
	config  config.Config
	version string
}

func (a *App) newBulk(version string) *bulkExports {
	if a.bulk == nil {
		return nil
	}
	return &bulkExports{command: a.bulk, config: a.Config, version: version}
}

// write is an exports.Service.Elsewhere.
func (b bulkExports) write(
	ctx context.Context, row models.Export, to io.Writer, progress exports.Progress,
) (result bundle.Result, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	command := b.command(ctx)
	command.Env = withoutSettings(command.Environ())
	command.WaitDelay = endWithin
	said := &bytes.Buffer{}
	command.Stderr = &firstBytes{to: said, left: 4 << 10}
	in, err := command.StdinPipe() // it ends when its input does
	if err != nil {
		return result, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return result, err
	}
	if err := command.Start(); err != nil {
		return result, fmt.Errorf("start the process that writes exports: %w", err)
	}
	if err = gob.NewEncoder(in).Encode(exportOrder{b.config, b.version, row}); err == nil {
		result, err = readExport(out, to, progress)
	}
	dead := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE)
	if err != nil && !dead {
		stop()
	}
	_ = in.Close() // it may have ended
	ended := command.Wait()
	if dead && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w: %s", err, ended, strings.TrimSpace(said.String()))
	}
	return result, err
}

// readExport passes on what the other process writes.
func readExport(from io.Reader, to io.Writer, progress exports.Progress) (result bundle.Result, err error) {
	frames := gob.NewDecoder(bufio.NewReaderSize(from, bulkFrame))
	for {
		var frame exportFrame
		err := frames.Decode(&frame)
		switch {
		case errors.Is(err, io.EOF):
			return result, fmt.Errorf("the process that writes exports has ended: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return result, err
		case frame.Failed != nil && frame.Failed.Fault != nil:
			return result, frame.Failed.Fault.Because(errors.New(frame.Failed.Text))
		case frame.Failed != nil:
			return result, errors.New(frame.Failed.Text)
		case frame.Result != nil:
			return *frame.Result, nil
		case frame.Progress != nil:
			progress(frame.Progress.Part, frame.Progress.Done, frame.Progress.Total)
		default:
			if _, err := to.Write(frame.Zip); err != nil {
				return result, err
			}
		}
	}
}

// withoutSettings returns an environment without the settings of this program and of its bucket.
func withoutSettings(environ []string) (out []string) {
	for _, variable := range environ {
		if !strings.HasPrefix(variable, "POSTERN_") && !strings.HasPrefix(variable, "AWS_") {
			out = append(out, variable)
		}
	}
	return out
}

// firstBytes passes the first bytes on and drops the others.
type firstBytes struct {
	to   io.Writer
	left int
}

func (f *firstBytes) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if _, err := f.to.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// BuildExport writes the zip of an export to out as the order on in says, with a low priority. It
// is the other process: it ends when in does, as when the server is killed, and leaves it to the server
// what signals mean.
func BuildExport(ctx context.Context, in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	_ = nice.Lower() // the export is still correct at normal priority
	debug.SetMemoryLimit(bulkMemory)
	input := bufio.NewReader(in)
	var order exportOrder
	if err := gob.NewDecoder(input).Decode(&order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, input)
		os.Exit(1)
	}()
	frames := &frameWriter{to: gob.NewEncoder(out)}
	result, err := buildExport(ctx, order, frames)
	if err != nil {
		public, _ := errors.AsType[*fault.Error](err)
		return frames.send(exportFrame{Failed: &exportFailure{err.Error(), public}})
	}
	return frames.send(exportFrame{Result: &result})
}

func buildExport(ctx context.Context, order exportOrder, frames *frameWriter) (result bundle.Result, err error) {
	vault, err := openVault(order.Config)
	if err != nil {
		return result, err
	}
	db, err := models.OpenWith(ctx, databaseOptions(order.Config))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	service := newExports(serviceDeps{
		config:  order.Config,
		version: order.Version,
		db:      db,
		vault:   vault,
		log:     slog.New(slog.DiscardHandler),
	}, nil, nil)
	zip := bufio.NewWriterSize(frames, bulkFrame)
	if result, err = service.Write(ctx, order.Export, zip, frames.progress); err != nil {
		return result, err
	}
	frames.report()
	return result, zip.Flush()
}

// frameWriter writes frames, for several goroutines.
type frameWriter struct {
	mu   sync.Mutex
	to   *gob.Encoder
	at   exportProgress
	sent time.Time // the last progress
}

func (w *frameWriter) send(frame exportFrame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Encode(frame)
}

// Write implements io.Writer.
func (w *frameWriter) Write(p []byte) (int, error) { return len(p), w.send(exportFrame{Zip: p}) }

func (w *frameWriter) progress(part string, done, total int64) {
	w.mu.Lock()
	w.at = exportProgress{part, done, total}
	due := time.Since(w.sent) >= bulkReports
	w.mu.Unlock()
	if due {
		w.report()
	}
}

// report passes the progress on. If that fails, so does the zip.
func (w *frameWriter) report() {
	w.mu.Lock()
	at := w.at
	w.sent = time.Now()
	w.mu.Unlock()
	_ = w.send(exportFrame{Progress: &at})
}
