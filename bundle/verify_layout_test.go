package bundle_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"postern/platform/fault"
)

// small returns an export without keys, and a function that reports whether a position is
// among the packed bytes of an entry. All other bytes are headers.
func small(t *testing.T) (data []byte, packed func(int) bool) {
	t.Helper()
	in := sampleInput()
	in.Project.Versions, in.Options.Consumers = in.Project.Versions[:1], false
	data, _ = write(t, in)
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return data, func(at int) bool {
		return slices.ContainsFunc(zr.File, func(f *zip.File) bool {
			from, err := f.DataOffset()
			return err == nil && int64(at) >= from && int64(at) < from+int64(f.CompressedSize64)
		})
	}
}

func TestVerify_flippedHeaderBits(t *testing.T) {
	data, packed := small(t)
	if _, err := verify(data); err != nil {
		t.Fatal(err)
	}
	flips := 0
	for at := range data {
		if packed(at) {
			continue
		}
		for bit := range 8 {
			data[at] ^= 1 << bit
			if _, err := verify(data); err == nil || fault.KindOf(err) != fault.Invalid {
				t.Errorf("bit %d of byte %d flipped: %v", bit, at, err)
			}
			data[at] ^= 1 << bit
			flips++
		}
	}
	if flips < 5000 {
		t.Errorf("%d bits flipped: that shows too little", flips)
	}
}

// An archive with flipped bits in its packed files is accepted only if it has the same
// files: a few bits after the last block of a packed file have no meaning.
func TestVerify_flippedBits(t *testing.T) {
	data, _ := write(t, sampleInput())
	_, want := unzip(t, data)
	dice := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		flipped := bytes.Clone(data)
		for range 1 + dice.IntN(3) {
			flipped[dice.IntN(len(flipped))] ^= 1 << dice.IntN(8)
		}
		if _, err := verify(flipped); err != nil {
			continue
		}
		if _, got := unzip(t, flipped); !maps.Equal(want, got) {
			t.Fatal("an archive with other contents was accepted")
		}
	}
}

// A program that reads local headers, or that searches for the end from the beginning,
// would find the other one of two archives.
func TestVerify_twoArchives(t *testing.T) {
	data, _ := write(t, sampleInput())
	var other bytes.Buffer
	zw := zip.NewWriter(&other)
	if w, err := zw.Create("../evil.sh"); err != nil {
		t.Fatal(err)
	} else if _, err := io.WriteString(w, "touch evil"); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := other.Bytes()
	foreignEntries, _, _ := bytes.Cut(foreign, []byte("PK\x01\x02"))
	for name, both := range map[string][]byte{
		"in front": slices.Concat(foreign, data), "in front, moved": moved(slices.Concat(foreign, data), len(foreign)),
		"behind": slices.Concat(data, foreign), "script in front": slices.Concat([]byte("#!/bin/sh\n"), data),
		"bytes behind": append(slices.Clone(data), "junk"...), "comment": commented(data),
		"its entries only": slices.Concat(foreignEntries, data),
	} {
		if _, err := verify(both); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

// moved corrects the offsets in the directory of an archive that got by bytes in
// front of it (APPNOTE 4.3.12 and 4.3.16).
func moved(data []byte, by int) []byte {
	add := func(at int) {
		binary.LittleEndian.PutUint32(data[at:], binary.LittleEndian.Uint32(data[at:])+uint32(by))
	}
	end := len(data) - 22
	add(end + 16)
	for at := int(binary.LittleEndian.Uint32(data[end+16:])); at < end; {
		add(at + 42)
		at += 46 + int(binary.LittleEndian.Uint16(data[at+28:])) + int(binary.LittleEndian.Uint16(data[at+30:]))
	}
	return data
}

func commented(data []byte) []byte {
	out := append(slices.Clone(data), "hello"...)
	out[len(data)-2] = 5
	return out
}

func TestVerify_disagreeingHeaders(t *testing.T) {
	data, _ := write(t, sampleInput())
	central, ledger := bytes.Index(data, []byte("PK\x01\x02")), bytes.Index(data, []byte(report))
	for what, at := range map[string]int{
		"local name":   ledger,
		"descriptor":   bytes.LastIndex(data[:ledger], []byte("PK\x07\x08")) + 8,
		"central mode": central + 40,
	} {
		spoilt := bytes.Clone(data)
		spoilt[at] ^= 1
		want := map[string]string{"local name": report, "central mode": "MANIFEST.json"}[what]
		if want == "" { // the entry before the ledger
			zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range zr.File {
				if from, err := f.DataOffset(); err == nil && from+int64(f.CompressedSize64)+8 == int64(at) {
					want = f.Name
				}
			}
		}
		refusedAs(t, spoilt, want, "could unpack it differently")
	}
}

// A streaming program stops at the last block of an entry and reads on there.
func TestVerify_trailingBytes(t *testing.T) {
	e := unpacked(t)
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	slices.Sort(e.names)
	for _, name := range e.names {
		var body bytes.Buffer
		fw, err := flate.NewWriter(&body, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(fw, e.files[name]); err != nil {
			t.Fatal(err)
		}
		if err := fw.Close(); err != nil {
			t.Fatal(err)
		}
		if name == project {
			body.WriteString("PK\x03\x04 and so on")
		}
		header := canonical(t, name)
		header.CRC32 = crc32.ChecksumIEEE([]byte(e.files[name]))
		header.CompressedSize64, header.UncompressedSize64 = uint64(body.Len()), uint64(len(e.files[name]))
		w, err := zw.CreateRaw(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	refusedAs(t, out.Bytes(), project, "there is more data after its packed bytes")
}

// canonical is the header that Write gives an entry, as CreateRaw wants it.
func canonical(t *testing.T, name string) *zip.FileHeader {
	t.Helper()
	data, _ := write(t, sampleInput())
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range zr.File {
		if f.Name == name {
			return &f.FileHeader
		}
	}
	t.Fatalf("no entry %s", name)
	return nil
}

func TestVerify_repacked(t *testing.T) {
	e := unpacked(t)
	e.mode["SCHEMA.md"] = 0o755
	refusedAs(t, e.pack(t), "SCHEMA.md", "could unpack it differently")
}

// The Finder of macOS puts everything into a folder, and adds files. Other programs only pack differently.
func TestVerify_repackedZip(t *testing.T) {
	const finder = "unpacked and packed again, for example by the macOS Finder. Use the original download"
	for name, c := range map[string]struct {
		folder, added, entry, says string
	}{
		"a folder":     {folder: "shop-kong/", entry: `"shop-kong/MANIFEST.json"`, says: finder},
		"__MACOSX":     {added: "__MACOSX/._README.md", entry: `"__MACOSX/._README.md"`, says: finder},
		".DS_Store":    {added: "auth/.DS_Store", entry: `"auth/.DS_Store"`, says: finder},
		"its folders":  {added: "auth/", entry: `"auth/"`, says: finder},
		"packed again": {entry: "MANIFEST.json", says: "use the original download"},
	} {
		t.Run(name, func(t *testing.T) {
			e := unpacked(t)
			if c.folder != "" {
				var names []string
				files := map[string]string{}
				for _, name := range e.names {
					names = append(names, c.folder+name)
					files[c.folder+name] = e.files[name]
				}
				e.names, e.files = names, files
			}
			if c.added != "" {
				e.add(c.added, "")
			}
			if name == "packed again" {
				e.mode[e.names[0]] = 0o600
			}
			refusedAs(t, e.pack(t), c.entry, c.says)
		})
	}
}
