package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"postern/platform/scratch"
)

// Store keeps zips. Each attempt at an export writes its own file, so that an attempt that was overtaken by another
// can't replace the file that is served.
type Store interface {
	// Create begins the file of an attempt, and removes the leftovers of earlier attempts at the export. The caller has
	// the export's lease. The draft ends with ctx.
	Create(ctx context.Context, a Attempt) (Draft, error)
	// Open opens a file after its Commit. It returns fs.ErrNotExist if there is none, and ErrStoreDown if the store
	// doesn't respond. Reading the file also returns ErrStoreDown if no data arrives for ten seconds.
	Open(ctx context.Context, a Attempt) (io.ReadSeekCloser, error)
	// Remove removes the files of all attempts at an export, including those being written. It isn't an error if there
	// is none.
	Remove(ctx context.Context, export string) error
	// List lists all files, including those being written.
	List(ctx context.Context) iter.Seq2[Stored, error]
}

// ErrStoreDown means that a store doesn't respond, or refuses this server.
var ErrStoreDown = errors.New("the export storage isn't responding")

// Draft is a file being written. Commit makes it visible as a whole, or returns an error and
// leaves nothing to read. Discard removes the file, also after Commit.
type Draft interface {
	io.Writer
	Commit() error
	Discard()
}

// Attempt identifies one attempt at building an export.
type Attempt struct{ Export, Lease string }

// Stored is a file of a store.
type Stored struct {
	Export    string
	WrittenAt time.Time // or when writing began
}

const (
	wholeSuffix = ".zip"
	partSuffix  = ".part"

	exportPrefix = "exp_" // of the ids of exports
)

func (a Attempt) name() string { return prefixOf(a.Export) + a.Lease + wholeSuffix }

// prefixOf returns the prefix of the names of an export's files.
func prefixOf(export string) string { return export + "." }

// exportOf returns the export whose file has this name, and false for a file that is not of
// an export.
func exportOf(name string) (string, bool) {
	export, rest, ok := strings.Cut(name, ".")
	if !ok || !strings.HasPrefix(export, exportPrefix) {
		return "", false
	}
	return export, strings.HasSuffix(rest, wholeSuffix) || strings.HasSuffix(rest, partSuffix)
}

// Dir is a Store in a directory, which is created with the first file.
type Dir string

// Create implements Store.
func (d Dir) Create(ctx context.Context, a Attempt) (Draft, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of exports: %w", err)
	}
	if err := d.Remove(ctx, a.Export); err != nil {
		return nil, fmt.Errorf("remove earlier attempts at export %s: %w", a.Export, err)
	}
	target := filepath.Join(string(d), a.name())
	part := strings.TrimSuffix(target, wholeSuffix) + partSuffix
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the file of export %s: %w", a.Export, err)
	}
	return &dirDraft{File: file, target: target}, nil
}

// Open implements Store.
func (d Dir) Open(_ context.Context, a Attempt) (io.ReadSeekCloser, error) {
	return os.Open(filepath.Join(string(d), a.name()))
}

// Remove implements Store.
func (d Dir) Remove(_ context.Context, export string) error {
	files, err := d.files()
	for _, file := range files {
		if !strings.HasPrefix(file.Name(), prefixOf(export)) {
			continue
		}
		if gone := os.Remove(filepath.Join(string(d), file.Name())); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// List implements Store.
func (d Dir) List(context.Context) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		files, err := d.files()
		if err != nil {
			yield(Stored{}, err)
			return
		}
		for _, file := range files {
			export, ok := exportOf(file.Name())
			if !ok {
				continue
			}
			info, err := file.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				yield(Stored{}, err)
				return
			}
			if !yield(Stored{Export: export, WrittenAt: info.ModTime()}, nil) {
				return
			}
		}
	}
}

func (d Dir) files() ([]fs.DirEntry, error) {
	files, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

type dirDraft struct {
	*os.File
	target string
}

// Commit implements Draft. It syncs before it renames, so that a file that is visible
// after a power failure has its content.
func (f *dirDraft) Commit() error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("finish %s: %w", f.target, err)
	}
	if err := os.Rename(f.Name(), f.target); err != nil {
		return err
	}
	return scratch.SyncDir(filepath.Dir(f.target))
}

// Discard implements Draft.
func (f *dirDraft) Discard() {
	_ = f.Close()           // closed already after Commit
	_ = os.Remove(f.Name()) // renamed away after Commit
	_ = os.Remove(f.target) // there only after Commit
}
