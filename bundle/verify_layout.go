package bundle

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
)

// layout checks that the archive is, byte for byte, what Write creates from its packed entries. A zip has most
// information twice, and may have gaps that some programs ignore. Otherwise programs that read the local headers, or
// find another central directory, could unpack files other than the verified ones.
func (v *verifier) layout(r io.ReaderAt, size int64, order []*zip.File) error {
	manifest, err := decodeWhole[Manifest](v, manifestFile)
	if err != nil {
		return err
	}
	exported, err := time.Parse(time.RFC3339Nano, manifest.ExportedAt)
	if err != nil {
		return problem(manifestFile, "exported_at isn't a time")
	}
	at := &matcher{r: r, size: size}
	again := newArchive(at, exported)
	name, described := manifestFile, int64(0) // the previous entry, and the end of its descriptor
	for _, f := range order {
		if err := v.ctx.Err(); err != nil {
			return fmt.Errorf("verify %s: %w", f.Name, err)
		}
		err := again.copyOf(f)
		if err != nil && at.at >= described {
			name = f.Name
		}
		if err != nil {
			return at.refusal(name, err)
		}
		name, described = f.Name, at.at+descriptorSize(f)
	}
	return again.ends(at, name)
}

// repacked refuses a zip that a file manager has unpacked and packed again: macOS puts everything into a folder and
// adds its own files. Many programs add entries for folders, too.
func repacked(list []*zip.File) error {
	moved, whole := "", false
	for _, f := range list {
		switch folder, base := path.Split(f.Name); {
		case base == ".DS_Store", base == "" && folder != "", strings.HasPrefix(f.Name, "__MACOSX/"):
			return repackedAs(f.Name)
		case base == manifestFile && folder == "":
			whole = true
		case base == manifestFile:
			moved = f.Name
		}
	}
	if moved != "" && !whole {
		return repackedAs(moved)
	}
	return nil
}

func repackedAs(entry string) error {
	return problem(fmt.Sprintf("%q", entry), "this zip was unpacked and packed again, for example by the macOS "+
		"Finder. Use the original download. If Safari unpacks downloads, turn off \"Open safe files after "+
		"downloading\" in its settings and download the zip again.")
}

// descriptorSize returns the size of an entry's data descriptor with its signature
// (APPNOTE 4.3.9).
func descriptorSize(f *zip.File) int64 {
	if large(f) {
		return 24
	}
	return 16
}

func large(f *zip.File) bool { return max(f.CompressedSize64, f.UncompressedSize64) >= math.MaxUint32 }

// copyOf writes an entry as add does, but copies its packed bytes.
func (a *archive) copyOf(f *zip.File) error {
	header := entryHeader(f.Name, a.when)
	// CreateHeader fills in fields of the header, CreateRaw does not.
	shaper := zip.NewWriter(io.Discard)
	shaper.RegisterCompressor(zip.Deflate, unpacked)
	if _, err := shaper.CreateHeader(header); err != nil {
		return err
	}
	header.CRC32, header.CompressedSize64, header.UncompressedSize64 = f.CRC32, f.CompressedSize64, f.UncompressedSize64
	entry, err := a.zip.CreateRaw(header)
	if err != nil {
		return err
	}
	if large(f) {
		// The sizes are known only after the entry: they change the directory, not the
		// local header.
		header.ReaderVersion = 45
		//nolint:staticcheck // SA1019: a large entry's header has these values in the fields
		header.CompressedSize, header.UncompressedSize = math.MaxUint32, math.MaxUint32
	}
	packed, err := f.OpenRaw()
	if err != nil {
		return err
	}
	if _, err := io.Copy(entry, packed); err != nil {
		return err
	}
	return a.zip.Flush()
}

// unpacked is a compressor that does nothing, because a real one is slow to create.
func unpacked(w io.Writer) (io.WriteCloser, error) {
	return struct {
		io.Writer
		io.Closer
	}{w, io.NopCloser(nil)}, nil
}

// ends compares the bytes that follow the last entry.
func (a *archive) ends(at *matcher, last string) error {
	a.out.holding = &bytes.Buffer{}
	if err := a.zip.Close(); err != nil {
		return at.refusal("the end of the archive", err)
	}
	tail := sortDirectory(a.out.holding.Bytes())
	from, to := directory(tail)
	if _, err := at.Write(tail[:from]); err != nil { // its descriptor
		return at.refusal(last, err)
	}
	for _, r := range records(tail[from:to]) {
		if _, err := at.Write(r.raw); err != nil {
			return at.refusal(r.name, err)
		}
	}
	if _, err := at.Write(tail[to:]); err != nil {
		return at.refusal("the end of the archive", err)
	}
	if at.at != at.size {
		return problem("the end of the archive", "%d bytes follow it", at.size-at.at)
	}
	return nil
}

// matcher is a writer that compares its input with r.
type matcher struct {
	r        io.ReaderAt
	at, size int64 // at: the number of equal bytes so far
	buffer   []byte
}

var errDiffers = errors.New("differs")

func (m *matcher) Write(p []byte) (int, error) {
	if int64(len(p)) > m.size-m.at {
		return 0, errDiffers
	}
	m.buffer = append(m.buffer[:0], p...) // sets its length; ReadAt overwrites it
	if _, err := m.r.ReadAt(m.buffer, m.at); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	n := 0
	for n < len(p) && m.buffer[n] == p[n] {
		n++
	}
	m.at += int64(n)
	if n < len(p) {
		return n, errDiffers
	}
	return n, nil
}

func (m *matcher) refusal(entry string, err error) error {
	if errors.Is(err, errDiffers) {
		return problem(entry, "use the original download. This zip was packed again, and programs could unpack it "+
			"differently.")
	}
	return problem(entry, "it can't be read: %s", err)
}

// inflate unpacks an entry and checks that no packed bytes follow its last block: some programs skip them, others
// continue reading.
func inflate(r io.Reader) io.ReadCloser {
	in := bufio.NewReader(r) // an io.ByteReader, from which flate doesn't read too many bytes
	return &exactly{ReadCloser: flate.NewReader(in), in: in}
}

type exactly struct {
	io.ReadCloser
	in *bufio.Reader
}

func (e *exactly) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if _, more := e.in.ReadByte(); !errors.Is(more, io.EOF) {
			return n, errors.New("there is more data after its packed bytes")
		}
	}
	return n, err
}
