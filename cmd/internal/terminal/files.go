package terminal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"postern/platform/scratch"
)

// CanCreate checks that files can be created in a directory, and removes what interrupted commands left there.
func CanCreate(told io.Writer, dir string) error {
	Sweep(told, dir)
	probe, err := scratch.File(dir)
	if err != nil {
		return err
	}
	scratch.Discard(probe)
	return nil
}

// Sweep removes what interrupted commands left in a directory, "" for the one of temporary files, and says so.
func Sweep(told io.Writer, dir string) {
	removed, err := scratch.Sweep(dir)
	for _, path := range removed {
		fmt.Fprintf(told, "Removed %s, which an interrupted command had left behind.\n", Printable(path))
	}
	if err != nil {
		fmt.Fprintf(told, "Cannot remove the files that an interrupted command left behind: %v\n", err)
	}
}

// WriteFile writes a file, mode 0600, atomically.
func WriteFile(path string, fill func(*os.File) error) error {
	part, err := scratch.File(filepath.Dir(path))
	if err != nil {
		return err
	}
	if err := fill(part); err != nil {
		scratch.Discard(part)
		return err
	}
	return scratch.Place(part, path)
}

// CanSave checks that a file can be written to its path.
func CanSave(told io.Writer, file string, force bool) error {
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory: choose a file with -o", file)
	case err == nil && !force:
		return fmt.Errorf("%s already exists: use --force to overwrite it, or choose another file with -o", file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write the file: %w", err)
	}
	if err := CanCreate(told, filepath.Dir(file)); err != nil {
		return fmt.Errorf("cannot write %s (%w): choose another file with -o", file, errors.Unwrap(err))
	}
	return nil
}

// The most bytes that are read as a secret, and as another value.
const (
	maxSecretFile = 16 << 10
	maxTextFile   = 1 << 20
)

// ReadSecret reads a file, or standard input for "-", without the trailing newline.
func ReadSecret(t Terminal, path string) (string, error) {
	return readValue(t, path, "secret", maxSecretFile)
}

// ReadText is ReadSecret for a value that isn't secret.
func ReadText(t Terminal, path string) (string, error) {
	return readValue(t, path, "file", maxTextFile)
}

// ReadHidden prompts for a secret, such as "key", on a terminal, without showing it, or else reads standard input.
func ReadHidden(t Terminal, what string) (string, error) {
	file, ok := t.In.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return readValue(t, "-", what, maxSecretFile)
	}
	fmt.Fprint(t.Err, strings.ToUpper(what[:1])+what[1:]+": ")
	raw, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(t.Err)
	if err != nil {
		return "", fmt.Errorf("cannot read the %s: %w", what, err)
	}
	if len(raw) == 0 {
		return "", UsageError("the " + what + " is empty")
	}
	return string(raw), nil
}

// OfFlag returns an error that names the flag that it is about, nil for nil.
func OfFlag(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--%s: %w", flag, err)
}

// CannotRead is the error of a file that can't be read. It names the file once, as the error of package os does. For a
// directory it is a usage error.
func CannotRead(err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case ok && failed.Path == "":
		return UsageError("a file name is empty")
	case ok && errors.Is(failed.Err, syscall.EISDIR):
		return IsDirectory(failed.Path)
	case ok:
		return fmt.Errorf("cannot read %s: %w", failed.Path, failed.Err)
	}
	return fmt.Errorf("cannot read the file: %w", err)
}

// IsDirectory is the error of a directory where a file is expected.
func IsDirectory(path string) error {
	return UsageError(path + " is a directory: specify a file in it")
}

func readValue(t Terminal, path, what string, most int64) (string, error) {
	in := t.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", CannotRead(err)
		}
		defer file.Close()
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return "", CannotRead(err)
	}
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return "", UsageError("the " + what + " is empty")
	}
	return text, nil
}
