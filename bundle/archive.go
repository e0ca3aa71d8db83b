package bundle

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
)

// archive streams a zip. It sets fixed times and modes, hashes every file, and sorts the
// central directory by name.
type archive struct {
	zip   *zip.Writer
	out   *tee
	when  time.Time
	files []file
}

// file is an entry that was written.
type file struct {
	Name string
	Size int64
	sum  [32]byte
}

// tee counts and hashes the bytes that it writes to w. While holding is set, it writes to holding instead.
type tee struct {
	w       io.Writer
	hash    hash.Hash
	size    int64
	holding *bytes.Buffer
}

func (t *tee) Write(p []byte) (int, error) {
	if t.holding != nil {
		return t.holding.Write(p)
	}
	n, err := t.w.Write(p)
	t.hash.Write(p[:n])
	t.size += int64(n)
	return n, err
}

func newArchive(w io.Writer, when time.Time) *archive {
	out := &tee{w: w, hash: sha256.New()}
	zw := zip.NewWriter(out)
	// Level 1 is several times faster than the default and a few percent larger. The output depends only on the input,
	// so exports can be identical.
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	return &archive{zip: zw, out: out, when: zipTime(when)}
}

// zipTime rounds t to a time that every unzip program supports: 1980 to 2107, even
// seconds, UTC.
func zipTime(t time.Time) time.Time {
	epoch := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	t = t.UTC().Truncate(2 * time.Second)
	if t.Before(epoch) || t.Year() > 2107 {
		return epoch
	}
	return t
}

func (a *archive) add(ctx context.Context, part Part) error {
	if err := checkName(part.Name); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	entry, err := a.zip.CreateHeader(entryHeader(part.Name, a.when))
	if err != nil {
		return fmt.Errorf("bundle: begin %s: %w", part.Name, err)
	}
	sum := &tee{w: entry, hash: sha256.New()}
	out := &ahead{w: sum}
	err = part.Write(ctx, out)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("bundle: write %s: %w", part.Name, err)
	}
	a.files = append(a.files, file{Name: part.Name, Size: sum.size, sum: [32]byte(sum.hash.Sum(nil))})
	return nil
}

// entryHeader returns the header of an entry, except for the fields that depend on its
// bytes.
func entryHeader(name string, when time.Time) *zip.FileHeader {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: when}
	header.SetMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		header.SetMode(0o755)
	}
	return header
}

// sorted returns the files written so far, by name.
func (a *archive) sorted() []file {
	return slices.SortedFunc(slices.Values(a.files), func(x, y file) int { return strings.Compare(x.Name, y.Name) })
}

// close ends the archive and returns its size and SHA-256. It sorts the central
// directory, which programs list, by name: SHA256SUMS can only be written after the
// other files, but belongs in its alphabetical place.
func (a *archive) close() (int64, [32]byte, error) {
	if err := a.zip.Flush(); err != nil {
		return 0, [32]byte{}, fmt.Errorf("bundle: flush archive: %w", err)
	}
	a.out.holding = &bytes.Buffer{}
	if err := a.zip.Close(); err != nil {
		return 0, [32]byte{}, fmt.Errorf("bundle: close archive: %w", err)
	}
	tail := a.out.holding.Bytes()
	a.out.holding = nil
	if _, err := a.out.Write(sortDirectory(tail)); err != nil {
		return 0, [32]byte{}, fmt.Errorf("bundle: end archive: %w", err)
	}
	return a.out.size, [32]byte(a.out.hash.Sum(nil)), nil
}

// record is an entry of the central directory.
type record struct {
	name string
	raw  []byte
}

// records splits a central directory (APPNOTE 4.3.12: 46 fixed bytes, then name, extra
// and comment, whose lengths are at 28, 30 and 32).
func records(directory []byte) []record {
	var out []record
	for rest := directory; len(rest) > 0; {
		const fixed = 46
		name := int(binary.LittleEndian.Uint16(rest[28:]))
		size := fixed + name + int(binary.LittleEndian.Uint16(rest[30:])) + int(binary.LittleEndian.Uint16(rest[32:]))
		out = append(out, record{string(rest[fixed : fixed+name]), rest[:size]})
		rest = rest[size:]
	}
	return out
}

// sortDirectory sorts the records of the central directory in the tail of a zip by file
// name. The bytes before and after them depend only on their number and size.
func sortDirectory(tail []byte) []byte {
	from, to := directory(tail)
	records := records(tail[from:to])
	slices.SortFunc(records, func(x, y record) int { return strings.Compare(x.name, y.name) })
	out := append(make([]byte, 0, len(tail)), tail[:from]...)
	for _, r := range records {
		out = append(out, r.raw...)
	}
	return append(out, tail[to:]...)
}

// directory returns the bounds of the central directory in the tail of a zip without a
// comment. Its size is in the last record (APPNOTE 4.3.16), or, for a large archive, in
// the ZIP64 record that precedes it and its locator (4.3.14, 4.3.15).
func directory(tail []byte) (from, to int) {
	const end, end64 = 22, 56 + 20
	to = len(tail) - end
	size := int(binary.LittleEndian.Uint32(tail[to+12:]))
	if uint32(size) == math.MaxUint32 {
		to -= end64
		size = int(binary.LittleEndian.Uint64(tail[to+40:]))
	}
	return to - size, to
}

func sumsPart(a *archive) Part {
	return Part{
		Name: sumsFile,
		Doc: "The SHA-256 of every other file, one `<sum>  <name>` per line. Check with `sha256sum -c SHA256SUMS` " +
			"inside the\nunpacked folder, or with `postern verify` on the zip.",
		Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, a.sums())
			return err
		},
	}
}

// sums returns the text of SHA256SUMS for the files written so far.
func (a *archive) sums() string {
	var text strings.Builder
	for _, f := range a.sorted() {
		if f.Name != sumsFile {
			fmt.Fprintf(&text, "%s  %s\n", hexSum(f.sum), f.Name)
		}
	}
	return text.String()
}
