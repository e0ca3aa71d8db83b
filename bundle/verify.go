package bundle

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/contract"
	"postern/core/filelimits"
	"postern/platform/fault"
)

const (
	ratioMatters  = 16 << 20 // bytes, unpacked; the ratio of smaller entries is not checked
	hashedAtOnce  = 64 << 20 // bytes
	sumsFile      = "SHA256SUMS"
	codeNotAnZip  = "bundle_unreadable"
	codeBadBundle = "bundle_invalid"
)

// Report describes a verified archive.
type Report struct {
	Manifest Manifest
	SHA256   [32]byte // of the archive
	Signed   bool     // it has a signature, which was verified if a key was given
	Summary  contract.LedgerTotals
	Target   string
	Entries  int
	Items    int64
	Keys     int64
}

// problem returns a fault about one entry, which its public text names.
func problem(entry, format string, args ...any) error {
	return fault.New(fault.Invalid, codeBadBundle, "%s: %s", entry, printable(fmt.Sprintf(format, args...)))
}

// beyond returns the fault about an entry that exceeds a limit.
func beyond(entry string, limit *filelimits.Limit) error {
	return problem(entry, "%s", limit.Refusal())
}

// printable replaces the characters that a terminal would interpret or hide, because an attacker may have written the
// texts of an archive.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || jsonfile.Unseen(r) {
			return '?'
		}
		return r
	}, text)
}

// Against has the expectations that aren't part of the archive.
type Against struct {
	Targets  []Target            // the known targets; package targets has the list
	SHA256   *[32]byte           // of the whole archive; nil: any
	SignedBy []ed25519.PublicKey // one of these keys must have signed it; if empty, the signature isn't checked
}

// Verify checks an archive offline:
//
//   - It is safe to unpack, and packed exactly as Write packs it, so that every unzip
//     program finds the same files. A repacked archive is refused.
//   - Every file has the checksum in SHA256SUMS, and none is missing or added.
//   - Every document has the expected format.
//   - The ledger has an item for everything in the other files, and its pointers
//     resolve.
//   - Each new key has the SHA-256 in its row.
//   - Every other file equals what Write generates from the project's documents.
//
// It trusts nothing in the archive, and limits the amount that it reads. It uses about 50 bytes of memory per ledger
// item.
//
// An attacker who changes the documents and regenerates everything else creates a valid archive of another project.
// Only against.SHA256 and against.SignedBy can detect that.
//
// Errors are of kind Invalid, and their public text begins with the name of the entry at fault.
func Verify(ctx context.Context, r io.ReaderAt, size int64, against Against) (Report, error) {
	contents, err := Read(ctx, r, size, against)
	if err != nil {
		return Report{}, err
	}
	return contents.Report, nil
}

// sumOf returns the SHA-256 of a whole file.
func sumOf(ctx context.Context, r io.ReaderAt, size int64) ([32]byte, error) {
	h := sha256.New()
	for from := int64(0); from < size; from += hashedAtOnce {
		if err := ctx.Err(); err != nil {
			return [32]byte{}, fmt.Errorf("verify: %w", err)
		}
		if _, err := io.Copy(h, io.NewSectionReader(r, from, min(hashedAtOnce, size-from))); err != nil {
			return [32]byte{}, fmt.Errorf("verify: read the archive: %w", err)
		}
	}
	return [32]byte(h.Sum(nil)), nil
}

type verifier struct {
	ctx   context.Context
	files map[string]*zip.File

	sized, counted map[string]bool // documents by name
	size           int64           // of the documents that are read whole
	held           filelimits.Counts
}

// newVerifier returns a verifier of entries that are admitted.
func newVerifier(ctx context.Context, entries []*zip.File) *verifier {
	v := &verifier{ctx: ctx, files: map[string]*zip.File{}, sized: map[string]bool{}, counted: map[string]bool{}}
	for _, f := range entries {
		v.files[f.Name] = f
	}
	return v
}

// admit checks the list of entries before any of them is unpacked, and returns them in
// the order of their bytes.
func (v *verifier) admit(list []*zip.File) ([]*zip.File, error) {
	if int64(len(list)) > filelimits.ZipEntries.Most {
		return nil, beyond("the archive", filelimits.ZipEntries)
	}
	folded := map[string]string{}
	var total uint64
	for _, f := range list {
		if err := admitEntry(f); err != nil {
			return nil, err
		}
		if other, have := folded[strings.ToLower(f.Name)]; have {
			return nil, problem(f.Name, "its name conflicts with %s", other)
		}
		folded[strings.ToLower(f.Name)] = f.Name
		if total += f.UncompressedSize64; total > uint64(filelimits.ZipUnpacked.Most) {
			return nil, beyond(f.Name, filelimits.ZipUnpacked)
		}
		v.files[f.Name] = f
	}
	return apart(list)
}

func admitEntry(f *zip.File) error {
	if err := checkName(f.Name); err != nil {
		return problem(fmt.Sprintf("%q", f.Name), "%s", err)
	}
	switch {
	case !f.Mode().IsRegular():
		return problem(f.Name, "it isn't a regular file")
	case f.Flags&1 != 0:
		return problem(f.Name, "it is encrypted")
	case f.Method != zip.Deflate && f.Method != zip.Store:
		return problem(f.Name, "its compression method (%d) isn't used in exports", f.Method)
	case f.UncompressedSize64 > uint64(filelimits.ZipEntryUnpacked.Most):
		return beyond(f.Name, filelimits.ZipEntryUnpacked)
	case f.UncompressedSize64 > ratioMatters &&
		f.UncompressedSize64/uint64(filelimits.ZipRatio.Most) > f.CompressedSize64:
		return beyond(f.Name, filelimits.ZipRatio)
	}
	return nil
}

// apart refuses entries that share bytes, which let a small file unpack to a huge amount (Fifield, A better zip bomb,
// 2019), and returns the entries in the order of their bytes.
func apart(list []*zip.File) ([]*zip.File, error) {
	begins := map[*zip.File]int64{}
	for _, f := range list {
		from, err := f.DataOffset()
		if err != nil {
			return nil, problem(f.Name, "its position in the archive is wrong")
		}
		begins[f] = from
	}
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b *zip.File) int { return cmp.Compare(begins[a], begins[b]) })
	for i := 1; i < len(order); i++ {
		if before := order[i-1]; begins[order[i]] < begins[before]+int64(before.CompressedSize64) {
			return nil, problem(order[i].Name, "it overlaps with %s", before.Name)
		}
	}
	return order, nil
}

// open returns a reader of an entry. It ends one byte after the declared size at the
// latest.
func (v *verifier) open(name string) (io.ReadCloser, error) {
	f, ok := v.files[name]
	if !ok {
		return nil, problem(name, "it is missing")
	}
	r, err := f.Open()
	if err != nil {
		return nil, problem(name, "it can't be unpacked: %s", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r, int64(f.UncompressedSize64)+1), r}, nil
}

func (v *verifier) read(name string) ([]byte, error) {
	r, err := v.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, filelimits.ZipDocument.Most+1))
	if err != nil {
		return nil, problem(name, "it can't be unpacked: %s", err)
	}
	if int64(len(data)) > filelimits.ZipDocument.Most {
		return nil, beyond(name, filelimits.ZipDocument)
	}
	if !v.sized[name] { // some are read more than once, but kept only once
		v.sized[name] = true
		if v.size += int64(len(data)); v.size > filelimits.ZipDocuments.Most {
			return nil, beyond(name, filelimits.ZipDocuments)
		}
	}
	return data, nil
}

// count adds the values in a document to the counts of all documents before it is parsed: an empty object of three
// bytes can take hundreds in memory.
func (v *verifier) count(name string, data []byte) error {
	if v.counted[name] {
		return nil
	}
	v.counted[name] = true
	found := filelimits.Count(data)
	if name == configFile && found.Objects > filelimits.ZipConfigObjects.Most {
		return beyond(name, filelimits.ZipConfigObjects)
	}
	v.held.Values, v.held.Objects, v.held.Depth = v.held.Values+found.Values, v.held.Objects+found.Objects, found.Depth
	if limit := v.held.Exceeded(filelimits.ZipValues, filelimits.ZipObjects, filelimits.ZipNesting); limit != nil {
		return beyond(name, limit)
	}
	return nil
}

// sums checks that SHA256SUMS has the checksum of every entry and lists no other file.
func (v *verifier) sums() error {
	text, err := v.read(sumsFile)
	if err != nil {
		return err
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size {
			return problem(sumsFile, "line %d isn't a checksum followed by a name", len(listed)+1)
		}
		if _, twice := listed[name]; twice {
			return problem(name, "it is listed twice in %s", sumsFile)
		}
		listed[name] = sum
	}
	for _, name := range v.names() {
		if _, ok := listed[name]; !ok && name != sumsFile && name != signatureFile {
			return problem(name, "it isn't listed in %s", sumsFile)
		}
	}
	for _, name := range sortedKeys(listed) {
		if err := v.sum(name, listed[name]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) sum(name, want string) error {
	if err := v.ctx.Err(); err != nil {
		return fmt.Errorf("verify %s: %w", name, err)
	}
	r, err := v.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err != nil {
		return problem(name, "it can't be unpacked: %s", err)
	}
	if uint64(n) != v.files[name].UncompressedSize64 {
		return problem(name, "its size differs from its declared size")
	}
	if hex.EncodeToString(h.Sum(nil)) != want {
		return problem(name, "its SHA-256 doesn't match the one in %s", sumsFile)
	}
	return nil
}

func (v *verifier) names() []string { return sortedKeys(v.files) }

func sortedKeys[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// lines calls visit with each line of an entry, without its end, counted from 0.
func (v *verifier) lines(name string, visit func(n int, line []byte) error) error {
	r, err := v.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), int(filelimits.ZipRow.Most))
	for n := 0; in.Scan(); n++ {
		if err := v.ctx.Err(); err != nil {
			return fmt.Errorf("verify %s: %w", name, err)
		}
		if int64(n) == filelimits.ZipRows.Most {
			return beyond(name, filelimits.ZipRows)
		}
		if err := visit(n, in.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return beyond(name, filelimits.ZipRow)
	}
	if err := in.Err(); err != nil {
		return problem(name, "it can't be read line by line: %s", err)
	}
	return nil
}
