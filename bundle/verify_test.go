package bundle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"postern/core/filelimits"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/sample"
)

func TestVerify_accepted(t *testing.T) {
	data, result := write(t, sampleInput())
	got, err := verify(data)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	if got.Summary != result.Summary {
		t.Errorf("summary %+v, want %+v", got.Summary, result.Summary)
	}
	if got.Entries != result.Entries {
		t.Errorf("%d entries, want %d", got.Entries, result.Entries)
	}
	if want := int64(len(sample.Keys())); got.Keys != want {
		t.Errorf("%d keys, want %d", got.Keys, want)
	}
	if got.Target != "data" {
		t.Errorf("target %q", got.Target)
	}
	e := unpacked(t)
	e.reseal(t)
	if _, err := verify(e.pack(t)); err != nil {
		t.Errorf("a repacked archive: %v", err)
	}
}

// An export of a project in the trash says so, since its gateway would answer again.
func TestWrite_projectInBin(t *testing.T) {
	in := sampleInput()
	in.Project.Deleted = true
	data, _ := write(t, in)
	if _, err := verify(data); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	if !strings.Contains(files["MIGRATION-REPORT.json"], "data.deleted_project.as_before") {
		t.Error("the ledger does not say that the project was deleted")
	}
}

// Each case breaks one thing; the error begins with the name of the entry.
func TestVerify_namesEntry(t *testing.T) {
	for name, c := range testkit.ByName(map[string]struct {
		entry string
		says  string
		spoil func(*editable)
	}{
		"changed file":   {project, "SHA-256", func(e *editable) { e.swap(project, "shop", "chop") }},
		"changed ledger": {report, "SHA-256", func(e *editable) { e.swap(report, "exact", "lossy") }},
		"changed keys":   {rows, "SHA-256", func(e *editable) { e.swap(rows, "ana", "eve") }},
		"missing file":   {"SCHEMA.md", "missing", func(e *editable) { e.drop("SCHEMA.md") }},
		"added file":     {"extra.sh", "isn't listed in SHA256SUMS", func(e *editable) { e.add("extra.sh", "x") }},
		"added file, summed": {"extra.sh", "isn't listed in MANIFEST.json", func(e *editable) {
			e.add("extra.sh", "x")
			e.resum()
		}},
		"no sums":         {"SHA256SUMS", "missing", func(e *editable) { e.drop("SHA256SUMS") }},
		"sums of nothing": {"SHA256SUMS", "isn't a checksum", func(e *editable) { e.files["SHA256SUMS"] += "x\n" }},
		"listed twice": {"SCHEMA.md", "twice", func(e *editable) {
			e.files["SHA256SUMS"] += fmt.Sprintf("%x  SCHEMA.md\n", sha256.Sum256(nil))
		}},
		"duplicate": {"SCHEMA.md", "conflicts with", func(e *editable) { e.names = append(e.names, "SCHEMA.md") }},
		"link": {"SCHEMA.md", "isn't a regular file", func(e *editable) {
			e.mode["SCHEMA.md"] = fs.ModeSymlink | 0o777
		}},
		"bomb": {"SCHEMA.md", "times its size", func(e *editable) {
			e.files["SCHEMA.md"] = strings.Repeat("0", 20<<20)
			e.resum()
		}},
	}) {
		t.Run(name, func(t *testing.T) {
			e := unpacked(t)
			c.spoil(e)
			refusedAs(t, e.pack(t), c.entry, c.says)
		})
	}
}

func TestVerify_unsafeNames(t *testing.T) {
	for name, c := range map[string]struct{ added, entry, says string }{
		"zip slip":          {"../evil", `"../evil"`, "isn't safe on every system"},
		"inner zip slip":    {"a/../../evil", `"a/../../evil"`, "plain relative path"},
		"absolute path":     {"/etc/passwd", `"/etc/passwd"`, "plain relative path"},
		"drive":             {"C:evil", `"C:evil"`, "plain relative path"},
		"backslash":         {`a\evil`, `"a\\evil"`, "plain relative path"},
		"folder":            {"folder/", `"folder/"`, "unpacked and packed again"},
		"device":            {"tenants/NUL.json", `"tenants/NUL.json"`, "safe"},
		"control character": {"a\nb", `"a\nb"`, "unsafe character"},
		"no name":           {"", `""`, "0 bytes"},
		"other case":        {"schema.MD", "schema.MD", "conflicts with SCHEMA.md"},
	} {
		t.Run(name, func(t *testing.T) {
			content := "x"
			if strings.HasSuffix(c.added, "/") {
				content = ""
			}
			e := unpacked(t)
			e.add(c.added, content)
			refusedAs(t, e.pack(t), c.entry, c.says)
		})
	}
}

// A line is read into memory, so that its length has its own bound. The sums and sizes are right.
func TestVerify_unendedLine(t *testing.T) {
	e := unpacked(t)
	long := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(long)
	e.files[rows] += fmt.Sprintf(`{"id":"%x"}`, long) + "\n"
	e.reseal(t)
	refusedAs(t, e.pack(t), rows, filelimits.ZipRow.Refusal())
}

func TestVerify_overlappingEntries(t *testing.T) {
	e := unpacked(t)
	data := e.pack(t)
	// The second record of the central directory points at the first entry's bytes
	// (APPNOTE 4.3.12: the offset is at 42).
	first := bytes.Index(data, []byte("PK\x01\x02"))
	second := first + 4 + bytes.Index(data[first+4:], []byte("PK\x01\x02"))
	copy(data[second+42:second+46], data[first+42:first+46])
	refusedAs(t, data, e.names[1], "overlaps with "+e.names[0])
}

func TestVerify_declaredSize(t *testing.T) {
	e := unpacked(t)
	data := e.pack(t)
	at := bytes.Index(data, []byte("PK\x01\x02"))
	size := binary.LittleEndian.Uint32(data[at+24:])
	binary.LittleEndian.PutUint32(data[at+24:], size-1) // uncompressed size, 4.3.12
	if _, err := verify(data); fault.CodeOf(err) != "bundle_invalid" {
		t.Errorf("an entry that is longer than it says: %v", err)
	}
	binary.LittleEndian.PutUint32(data[at+24:], 0xfffffff0)
	refusedAs(t, data, e.names[0], "times its size")
}

func TestVerify_notAZip(t *testing.T) {
	data, _ := write(t, sampleInput())
	for name, broken := range map[string][]byte{
		"empty":       nil,
		"text":        []byte("hello"),
		"cut short":   data[:len(data)-30],
		"second half": data[len(data)/2 : len(data)-1],
	} {
		if _, err := verify(broken); fault.CodeOf(err) != "bundle_unreadable" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
