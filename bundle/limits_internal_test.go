package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"postern/core/filelimits"
	"postern/platform/fault"
)

// holding returns a verifier of an archive with one entry.
func holding(t *testing.T, name, text string) *verifier {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	entry, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(entry, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return newVerifier(t.Context(), r.File)
}

// Each limit of what is in a zip admits as much as it says, and refuses one more before it is decoded.
func TestLimits_exact(t *testing.T) {
	t.Parallel()
	document := func(v *verifier) error { _, err := decodeWhole[json.RawMessage](v, v.names()[0]); return err }
	for _, tt := range []struct {
		limit *filelimits.Limit
		name  string
		text  func(n int) string
		read  func(*verifier) error
	}{
		{filelimits.ZipDocument, "a.json", func(n int) string {
			return `"` + strings.Repeat("a", n-2) + `"`
		}, document},
		{filelimits.ZipNesting, "a.json", func(n int) string {
			return strings.Repeat("[", n) + strings.Repeat("]", n)
		}, document},
		{filelimits.ZipObjects, "a.json", func(n int) string {
			return "[" + strings.TrimSuffix(strings.Repeat("{},", n-1), ",") + "]"
		}, document},
		{filelimits.ZipConfigObjects, configFile, func(n int) string {
			return "[" + strings.TrimSuffix(strings.Repeat("{},", n-1), ",") + "]"
		}, document},
		{filelimits.ZipValues, "a.json", func(n int) string {
			return "[" + strings.TrimSuffix(strings.Repeat("0,", n), ",") + "]"
		}, document},
		{filelimits.ZipRows, "a.jsonl", func(n int) string { return strings.Repeat("\n", n) }, func(v *verifier) error {
			return v.lines("a.jsonl", func(int, []byte) error { return nil })
		}},
		{filelimits.ZipRow, "a.jsonl", func(n int) string { return strings.Repeat("a", n-1) }, func(v *verifier) error {
			return v.lines("a.jsonl", func(int, []byte) error { return nil })
		}},
	} {
		for n := tt.limit.Most - 1; n <= tt.limit.Most+1; n++ {
			err := tt.read(holding(t, tt.name, tt.text(int(n))))
			if n > tt.limit.Most != (err != nil) || err != nil && (fault.CodeOf(err) != codeBadBundle ||
				!strings.Contains(err.Error(), tt.limit.Refusal())) {
				t.Errorf("%s %s: %d of %d: %v", tt.limit.File, tt.limit.Name, n, tt.limit.Most, err)
			}
		}
	}
}

// Documents are counted together: a zip can have as many as it has entries. One that is read again counts once.
func TestLimits_together(t *testing.T) {
	t.Parallel()
	v := holding(t, "a.json", "["+strings.Repeat("[],", int(filelimits.ZipObjects.Most/2))+"[]]")
	for range 3 {
		if _, err := decodeWhole[json.RawMessage](v, "a.json"); err != nil {
			t.Fatal(err)
		}
	}
	v.files["b.json"] = v.files["a.json"]
	if _, err := decodeWhole[json.RawMessage](v, "b.json"); err == nil ||
		!strings.Contains(err.Error(), filelimits.ZipObjects.Refusal()) {
		t.Errorf("another document with half as many objects: %v", err)
	}
}

// FuzzVerify counts independently: a document that is decoded is within the limits. Its seeds are the kinds of
// documents that grow when they are decoded.
func FuzzVerify(f *testing.F) {
	for _, seed := range []string{
		`{"versions":[{},{},{}]}`, `{"tenants":[[[[{"name":"a"}]]]]}`,
		strings.Repeat("[", 101) + strings.Repeat("]", 101),
		`"` + strings.Repeat("[", 200) + `"`,
	} {
		f.Add([]byte(seed), uint16(1))
		f.Add([]byte(seed), uint16(10_000))
	}
	f.Fuzz(func(t *testing.T, one []byte, times uint16) {
		if len(one)*int(times) > 256<<10 { // larger ones say the same, slowly
			return
		}
		text := "[" + strings.TrimSuffix(strings.Repeat(string(one)+",", int(times)), ",") + "]"
		v := holding(t, configFile, text)
		if _, err := decodeWhole[json.RawMessage](v, configFile); err != nil {
			return
		}
		if objects := int64(strings.Count(unquoted(text), "[") + strings.Count(unquoted(text), "{")); objects >
			filelimits.ZipConfigObjects.Most {
			t.Errorf("%d objects and lists are decoded, of %.100q", objects, one)
		}
	})
}

// FuzzRows splits independently: every row within the limit is read, and a file with one beyond it is refused. The end
// of a row may count.
func FuzzRows(f *testing.F) {
	row := int(filelimits.ZipRow.Most)
	f.Add("{}\n{}\n", "", 0)
	f.Add("", "a", row-1)
	f.Add("{}\n", "a", row)
	f.Add("", "aa\r\n", 9)
	f.Fuzz(func(t *testing.T, head, one string, times int) {
		if times < 0 || times > row || len(one)*times > row+len(one) {
			return
		}
		text := head + strings.Repeat(one, times)
		var got []string
		longest := 0
		err := holding(t, "a.jsonl", text).lines("a.jsonl", func(_ int, line []byte) error {
			got, longest = append(got, string(line)), max(longest, len(line))
			return nil
		})
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			want = nil
		}
		most := 0
		for _, line := range want {
			most = max(most, len(line))
		}
		for i := range want {
			want[i] = strings.TrimSuffix(want[i], "\r")
		}
		switch {
		case longest > row:
			t.Errorf("a row of %d bytes is read", longest)
		case most != row && most > row != (err != nil):
			t.Errorf("the longest row has %d bytes: %v", most, err)
		case err == nil && !slices.Equal(got, want):
			t.Errorf("%d rows of %d are read", len(got), len(want))
		}
	})
}

// unquoted returns a JSON text without its strings.
func unquoted(text string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func entryOf(packed, size uint64) *zip.File {
	f := &zip.File{FileHeader: zip.FileHeader{
		Name: "a", Method: zip.Deflate, CompressedSize64: packed, UncompressedSize64: size,
	}}
	f.SetMode(0o644)
	return f
}

// The list of entries is checked before any of them is unpacked.
func TestLimits_entries(t *testing.T) {
	t.Parallel()
	most := uint64(filelimits.ZipEntryUnpacked.Most)
	for _, tt := range []struct {
		limit        *filelimits.Limit // nil: it is admitted
		packed, size uint64
	}{
		{nil, most, most},
		{filelimits.ZipEntryUnpacked, most, most + 1},
		{nil, 1, ratioMatters},
		{nil, ratioMatters, uint64(filelimits.ZipRatio.Most) * ratioMatters},
		{filelimits.ZipRatio, ratioMatters, uint64(filelimits.ZipRatio.Most) * (ratioMatters + 1)},
	} {
		err := admitEntry(entryOf(tt.packed, tt.size))
		if (tt.limit == nil) != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.limit.Refusal()) {
			t.Errorf("%d bytes of %d: %v", tt.size, tt.packed, err)
		}
	}
	var large []*zip.File
	for _, name := range []string{"a", "b", "c"} {
		one := entryOf(most, most)
		one.Name = name
		large = append(large, one)
	}
	for limit, list := range map[*filelimits.Limit][]*zip.File{
		filelimits.ZipUnpacked: large,
		filelimits.ZipEntries:  make([]*zip.File, filelimits.ZipEntries.Most+1),
	} {
		if _, err := newVerifier(t.Context(), nil).admit(list); err == nil ||
			!strings.Contains(err.Error(), limit.Refusal()) {
			t.Errorf("%s: %v", limit.Name, err)
		}
	}
}

// FuzzAdmit counts independently.
func FuzzAdmit(f *testing.F) {
	f.Add(uint64(1), uint64(ratioMatters+1))
	f.Add(uint64(1<<20), uint64(1<<28))
	f.Fuzz(func(t *testing.T, packed, size uint64) {
		if err := admitEntry(entryOf(packed, size)); err != nil {
			return
		}
		if size > 8<<30 || size > 16<<20 && size/250 > packed {
			t.Errorf("%d bytes of %d are admitted", size, packed)
		}
	})
}
