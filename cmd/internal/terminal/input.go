package terminal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"postern/platform/scratch"
)

// StandardInput is what people call the file "-".
const StandardInput = "standard input"

// Input is a file that a command reads at any place and as often as it likes. A pipe can be read only once and has no
// size, so that the command has a copy of it.
type Input struct {
	io.ReaderAt
	Path string // as it was given, or StandardInput
	Name string // the path without its directory
	Size int64  // in bytes
	file *os.File
	copy bool
}

// OpenInput opens a file, or copies standard input for "-". most is the largest size of a pipe in bytes, 0 for any. A
// directory is a usage error. The caller closes the input.
func OpenInput(in io.Reader, path string, most int64) (*Input, error) {
	if path == "-" {
		return copied(in, StandardInput, most)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, CannotRead(err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		return &Input{ReaderAt: file, Path: path, Name: filepath.Base(path), Size: info.Size(), file: file}, nil
	case info.IsDir():
		_ = file.Close()
		return nil, IsDirectory(path)
	default:
		defer file.Close()
		return copied(file, path, most)
	}
	_ = file.Close()
	return nil, CannotRead(err)
}

// OpenInputs is OpenInput for several files. Close closes them. Only one can be standard input.
func OpenInputs(in io.Reader, paths []string, most int64) (all Inputs, err error) {
	seen := false
	for _, path := range paths {
		if path == "-" && seen {
			all.Close()
			return nil, UsageError("only one of the files can be standard input (-)")
		}
		seen = seen || path == "-"
		one, err := OpenInput(in, path, most)
		if err != nil {
			all.Close()
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Inputs are several files.
type Inputs []*Input

// Close closes all files.
func (all Inputs) Close() {
	for _, one := range all {
		one.Close()
	}
}

// copied copies a stream to a temporary file. It may have secrets, so its name is removed where the system allows that.
func copied(in io.Reader, path string, most int64) (*Input, error) {
	file, err := scratch.File("")
	if err != nil {
		return nil, fmt.Errorf("cannot create a temporary file for %s (%w): set TMPDIR to a writable "+
			"directory", path, err)
	}
	_ = os.Remove(file.Name()) // otherwise Close removes it
	if most > 0 {
		in = io.LimitReader(in, most+1)
	}
	out := &Input{ReaderAt: file, Path: path, Name: path, file: file, copy: true}
	if out.Size, err = io.Copy(file, in); err != nil {
		out.Close()
		return nil, fmt.Errorf("cannot copy %s to a temporary file: %w", path, err)
	}
	if most > 0 && out.Size > most {
		out.Close()
		return nil, fmt.Errorf("%s is larger than %s", path, humanize.IBytes(uint64(most)))
	}
	return out, nil
}

// Close closes the file, and removes a copy.
func (i *Input) Close() {
	if i.copy {
		scratch.Discard(i.file)
		return
	}
	_ = i.file.Close()
}
