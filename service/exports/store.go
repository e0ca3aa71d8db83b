package exports

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Store keeps finished zips by export id.
type Store interface {
	// Create begins a file, which Open finds only after its Commit.
	Create(id string) (Draft, error)
	Open(id string) (io.ReadSeekCloser, error)
	// Remove removes a file. It is not an error if there is none.
	Remove(id string) error
}

// Draft is a file being written. Commit makes it visible as a whole. Discard removes it;
// after Commit it does nothing.
type Draft interface {
	io.Writer
	Commit() error
	Discard()
}

// Dir is a Store in a directory, which is created with the first file.
type Dir string

// Create implements Store. The caller has the export's lease, so that no other worker is
// writing the half-written files of earlier attempts, which Create removes.
func (d Dir) Create(id string) (Draft, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of exports: %w", err)
	}
	if err := d.removeParts(id + "."); err != nil {
		return nil, fmt.Errorf("remove earlier attempts at export %s: %w", id, err)
	}
	file, err := os.CreateTemp(string(d), id+".*.part")
	if err != nil {
		return nil, fmt.Errorf("begin the file of export %s: %w", id, err)
	}
	return &dirDraft{File: file, target: d.path(id)}, nil
}

// Open implements Store.
func (d Dir) Open(id string) (io.ReadSeekCloser, error) { return os.Open(d.path(id)) }

// Remove implements Store.
func (d Dir) Remove(id string) error {
	if err := os.Remove(d.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveParts removes the half-written files of a killed process. Only the sole owner of
// the directory may call it, before its workers start.
func (d Dir) RemoveParts() error { return d.removeParts("") }

func (d Dir) removeParts(prefix string) error {
	files, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		if !strings.HasPrefix(file.Name(), prefix) || !strings.HasSuffix(file.Name(), ".part") {
			continue
		}
		if gone := os.Remove(filepath.Join(string(d), file.Name())); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

func (d Dir) path(id string) string { return filepath.Join(string(d), id+".zip") }

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
	return syncDir(filepath.Dir(f.target))
}

// syncDir makes a rename durable: the name is part of the directory, not of the file.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Discard implements Draft.
func (f *dirDraft) Discard() {
	_ = f.Close()           // closed already after Commit
	_ = os.Remove(f.Name()) // renamed away after Commit
}
