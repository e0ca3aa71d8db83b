// Package backups writes and reads the archive of postern backup: a copy of the SQLite
// database, the key-encryption keys of its secrets, and a manifest.
//
// It owns the format: a tar of three files, compressed with gzip (RFC 1952) and encrypted
// with age (age-encryption.org/v1), so that age and tar can open it without Postern. The
// encryption authenticates every byte and the end. It leaves the copy of the database to
// package models, and files, locks and checks of the content to package app.
package backups

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"filippo.io/age"

	"postern/platform/secrets"
)

// Format is the format that this program writes. A program reads its own and earlier ones.
const Format = 1

// The files of an archive, in their order. The small ones come first, so that an archive
// that cannot be used is refused before the database is unpacked.
const (
	manifestFile = "manifest.json"
	keyFile      = "secrets.key"
	databaseFile = "postern.db"
)

// maxSmallFile bounds the manifest and the keys.
const maxSmallFile = 64 << 10

// Manifest describes an archive.
type Manifest struct {
	Format    int       `json:"format"`
	Generator string    `json:"generator"` // program and version
	CreatedAt time.Time `json:"created_at"`
	Schema    int64     `json:"schema"` // newest step that was applied to the database
}

// NewerFormatError is an archive in a format that this program does not know.
type NewerFormatError struct{ Manifest Manifest }

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("the backup has format %d, but this version of postern supports only formats up to %d: "+
		"restore it with the version that wrote it, %s, or a newer "+
		"one", e.Manifest.Format, Format, e.Manifest.Generator)
}

// ErrDamaged is an archive that was changed or cut off.
var ErrDamaged = errors.New("the backup is damaged or incomplete: copy it again from its original location, or use " +
	"another backup")

// Write writes an archive that only those of the seal can open. database is the path of a
// copy that no process changes. After an error, what was written is of no use.
func Write(ctx context.Context, w io.Writer, to Seal, m Manifest, keys secrets.Secret, database string) error {
	m.Format = Format
	described, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	sealed, err := age.Encrypt(w, to.recipients...)
	if err != nil {
		return fmt.Errorf("backups: seal the archive: %w", err)
	}
	packed, err := gzip.NewWriterLevel(sealed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, small := range []struct {
		name    string
		content []byte
	}{
		{manifestFile, append(described, '\n')},
		{keyFile, []byte(keys.Reveal())},
	} {
		if err := archive.WriteHeader(entry(small.name, int64(len(small.content)), m)); err != nil {
			return fmt.Errorf("backups: write %s: %w", small.name, err)
		}
		if _, err := archive.Write(small.content); err != nil {
			return fmt.Errorf("backups: write %s: %w", small.name, err)
		}
	}
	if err := writeDatabase(ctx, archive, m, database); err != nil {
		return fmt.Errorf("backups: write %s: %w", databaseFile, err)
	}
	if err := errors.Join(archive.Close(), packed.Close(), sealed.Close()); err != nil {
		return fmt.Errorf("backups: end the archive: %w", err)
	}
	return nil
}

func entry(name string, size int64, m Manifest) *tar.Header {
	return &tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: m.CreatedAt, Format: tar.FormatPAX}
}

func writeDatabase(ctx context.Context, archive *tar.Writer, m Manifest, path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(entry(databaseFile, info.Size(), m)); err != nil {
		return err
	}
	_, err = io.Copy(archive, interruptible{ctx, file})
	return err
}

// Content is the result of Read.
type Content struct {
	Manifest Manifest
	Keys     secrets.Secret
}

// Read reads an archive and writes its database to w. All that it has written is authentic;
// only a nil error says that it is complete.
func Read(ctx context.Context, r io.Reader, with Opener, w io.Writer) (Content, error) {
	plain, err := age.Decrypt(interruptible{ctx, r}, with.identities...)
	if err != nil {
		return Content{}, with.explain(err)
	}
	packed, err := gzip.NewReader(plain)
	if err != nil {
		return Content{}, damaged(ctx, err)
	}
	archive := tar.NewReader(packed)
	var out Content
	described, err := small(archive, manifestFile)
	if err == nil {
		err = json.Unmarshal(described, &out.Manifest)
	}
	if err != nil {
		return Content{}, damaged(ctx, err)
	}
	if out.Manifest.Format > Format {
		return out, &NewerFormatError{out.Manifest}
	}
	keys, err := small(archive, keyFile)
	if err != nil {
		return out, damaged(ctx, err)
	}
	out.Keys = secrets.Secret(keys)
	if err := next(archive, databaseFile); err != nil {
		return out, damaged(ctx, err)
	}
	target := &output{w: w}
	_, err = io.Copy(target, archive) //nolint:gosec // G110: the encryption authenticates the archive
	if target.err != nil {
		return out, target.err
	}
	if err == nil {
		err = ended(archive, packed, plain)
	}
	if err != nil {
		return out, damaged(ctx, err)
	}
	return out, nil
}

// next advances the archive to a file.
func next(archive *tar.Reader, name string) error {
	header, err := archive.Next()
	if err != nil {
		return err
	}
	if header.Name != name || header.Typeflag != tar.TypeReg {
		return fmt.Errorf("it contains %q instead of %s", header.Name, name)
	}
	return nil
}

func small(archive *tar.Reader, name string) ([]byte, error) {
	if err := next(archive, name); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(archive, maxSmallFile+1))
	if err == nil && len(content) > maxSmallFile {
		err = fmt.Errorf("%s is too large", name)
	}
	return content, err
}

// ended reads to the end of every layer: only there are the last checksum of gzip and the
// last chunk of age checked.
func ended(archive *tar.Reader, layers ...io.Reader) error {
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("it contains more files than a backup has"), err)
	}
	for _, layer := range layers {
		if _, err := io.Copy(io.Discard, layer); err != nil {
			return err
		}
	}
	return nil
}

func damaged(ctx context.Context, cause error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, cause)
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// output keeps the error of the writer apart from those of the archive: a full disk doesn't
// mean that the backup is damaged.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (n int, err error) {
	n, err = o.w.Write(p)
	o.err = err
	return n, err
}
