package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/platform/fault"
	"postern/testkit/sample"
)

// editable is an archive as a list, to be changed and packed again.
type editable struct {
	names []string
	files map[string]string
	mode  map[string]fs.FileMode
}

func unpacked(t *testing.T) *editable {
	t.Helper()
	data, _ := write(t, sampleInput())
	names, files := unzip(t, data)
	return &editable{names: names, files: files, mode: map[string]fs.FileMode{}}
}

func (e *editable) add(name, text string) {
	e.names = append(e.names, name)
	e.files[name] = text
}

// reseal makes manifest and sums fit the files again, as an attacker would.
func (e *editable) reseal(t *testing.T) {
	t.Helper()
	var m bundle.Manifest
	if err := json.Unmarshal([]byte(e.files["MANIFEST.json"]), &m); err != nil {
		t.Fatal(err)
	}
	m.Files = nil
	for _, name := range e.names {
		if name != "MANIFEST.json" && name != "SHA256SUMS" {
			m.Files = append(m.Files, bundle.ManifestFile{Name: name, Size: int64(len(e.files[name]))})
		}
	}
	slices.SortFunc(m.Files, func(a, b bundle.ManifestFile) int { return strings.Compare(a.Name, b.Name) })
	var text strings.Builder
	if err := bundle.WriteDocument(&text, m); err != nil {
		t.Fatal(err)
	}
	e.files["MANIFEST.json"] = text.String()
	e.resum()
}

func (e *editable) resum() {
	var sums strings.Builder
	for _, name := range e.names {
		if name != "SHA256SUMS" {
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(e.files[name])), name)
		}
	}
	e.files["SHA256SUMS"] = sums.String()
}

func (e *editable) pack(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	slices.Sort(e.names)
	for _, name := range e.names {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: sample.Base.Truncate(2 * time.Second)}
		header.SetMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			header.SetMode(0o755)
		}
		if mode, ok := e.mode[name]; ok {
			header.SetMode(mode)
		}
		w, err := zw.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (e *editable) swap(name, old, new string) {
	e.files[name] = strings.Replace(e.files[name], old, new, 1)
}

func (e *editable) drop(name string) {
	e.names = slices.DeleteFunc(e.names, func(n string) bool { return n == name })
}

const (
	report  = "MIGRATION-REPORT.json"
	rows    = "tenants/default/keys/keys.jsonl"
	project = "project-config.json"
)

func TestVerifyAcceptsWhatWriteMakes(t *testing.T) {
	data, result := write(t, sampleInput())
	got, err := verify(data)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	if got.Summary != result.Summary || got.Entries != result.Entries || got.Keys != int64(len(sample.Keys())) ||
		got.Target != "data" {
		t.Errorf("report %+v, want that of %+v", got, result)
	}
	e := unpacked(t)
	e.reseal(t)
	if _, err := verify(e.pack(t)); err != nil {
		t.Errorf("an archive packed anew: %v", err)
	}
}

// Each case breaks one thing; the error begins with the name of the entry.
func TestVerifyNamesTheEntryAtFault(t *testing.T) {
	cases := map[string]struct {
		entry string
		says  string
		spoil func(*testing.T, *editable)
	}{
		"changed file":   {project, "SHA-256", func(_ *testing.T, e *editable) { e.swap(project, "shop", "chop") }},
		"changed ledger": {report, "SHA-256", func(_ *testing.T, e *editable) { e.swap(report, "exact", "lossy") }},
		"changed keys":   {rows, "SHA-256", func(_ *testing.T, e *editable) { e.swap(rows, "ana", "eve") }},
		"missing file":   {"SCHEMA.md", "missing", func(_ *testing.T, e *editable) { e.drop("SCHEMA.md") }},
		"added file": {
			"extra.sh",
			"not listed in SHA256SUMS",
			func(_ *testing.T, e *editable) { e.add("extra.sh", "x") },
		},
		"added file, summed": {"extra.sh", "not listed in MANIFEST.json", func(_ *testing.T, e *editable) {
			e.add("extra.sh", "x")
			e.resum()
		}},
		"no sums":         {"SHA256SUMS", "missing", func(_ *testing.T, e *editable) { e.drop("SHA256SUMS") }},
		"sums of nothing": {"SHA256SUMS", "no sum", func(_ *testing.T, e *editable) { e.files["SHA256SUMS"] += "x\n" }},
		"listed twice": {"SCHEMA.md", "twice", func(_ *testing.T, e *editable) {
			e.files["SHA256SUMS"] += fmt.Sprintf("%x  SCHEMA.md\n", sha256.Sum256(nil))
		}},
		"zip slip": {
			`"../evil"`,
			"not safe on every system",
			func(_ *testing.T, e *editable) { e.add("../evil", "x") },
		},
		"inner zip slip": {
			`"a/../../evil"`,
			"plain relative path",
			func(_ *testing.T, e *editable) { e.add("a/../../evil", "x") },
		},
		"absolute path": {
			`"/etc/passwd"`,
			"plain relative path",
			func(_ *testing.T, e *editable) { e.add("/etc/passwd", "x") },
		},
		"drive": {
			`"C:evil"`,
			"plain relative path",
			func(_ *testing.T, e *editable) { e.add("C:evil", "x") },
		},
		"backslash": {
			`"a\\evil"`,
			"plain relative path",
			func(_ *testing.T, e *editable) { e.add(`a\evil`, "x") },
		},
		"folder": {
			`"folder/"`,
			"plain relative path",
			func(_ *testing.T, e *editable) { e.add("folder/", "") },
		},
		"device": {
			`"tenants/NUL.json"`,
			"safe",
			func(_ *testing.T, e *editable) { e.add("tenants/NUL.json", "x") },
		},
		"control character": {`"a\nb"`, "unsafe character", func(_ *testing.T, e *editable) { e.add("a\nb", "x") }},
		"no name":           {`""`, "0 bytes", func(_ *testing.T, e *editable) { e.add("", "x") }},
		"duplicate": {
			"SCHEMA.md",
			"collides",
			func(_ *testing.T, e *editable) { e.names = append(e.names, "SCHEMA.md") },
		},
		"other case": {
			"schema.MD",
			"collides with SCHEMA.md",
			func(_ *testing.T, e *editable) { e.add("schema.MD", "x") },
		},
		"link": {"SCHEMA.md", "no regular file", func(_ *testing.T, e *editable) {
			e.mode["SCHEMA.md"] = fs.ModeSymlink | 0o777
		}},
		"bomb": {"SCHEMA.md", "times its size", func(_ *testing.T, e *editable) {
			e.files["SCHEMA.md"] = strings.Repeat("0", 20<<20)
			e.resum()
		}},
	}
	for name, c := range cases {
		e := unpacked(t)
		c.spoil(t, e)
		refusedAs(t, name, e.pack(t), c.entry, c.says)
	}
}

// The same for contents, with sums that fit: whoever changed them made new ones.
func TestVerifyReadsWhatTheFilesSay(t *testing.T) {
	cases := map[string]struct{ entry, says, file, old, new string }{
		"item of a key gone": {
			report,
			"line 1 of " + rows + " has no item",
			report,
			`"id":"key:key_01"`,
			`"id":"key:key_99"`,
		},
		"item of grace gone": {
			report,
			"has no item",
			report,
			`"key_rotation_grace:key_08"`,
			`"key_rotation_grace:key_99"`,
		},
		"item of a version": {
			report,
			"item version:ver_2 is missing",
			report,
			`"version:ver_2"`,
			`"version:ver_9"`,
		},
		"item of a route": {
			report,
			"item route:env_1:path_form is missing",
			report,
			`"route:env_1:path_form"`,
			`"route:env_1:other"`,
		},
		"item of a limit": {
			report,
			"item rate_limits:prj_0000000000sample:ip:month is missing",
			report,
			`"rate_limits:prj_0000000000sample:ip:month"`,
			`"rate_limits:x"`,
		},
		"item of a type": {
			report,
			"item rate_limits:kty_4:month is missing",
			report,
			`"rate_limits:kty_4:month"`,
			`"rate_limits:x"`,
		},
		"item of a key's":  {report, "has no item", report, `"rate_limits:key_19:year"`, `"rate_limits:x"`},
		"item of no limit": {report, "has no item", report, `"rate_limits:key_22:none"`, `"rate_limits:x"`},
		"item of a range":  {report, "has no item", report, `"key_ip_ranges:key_20:::1/128"`, `"key_ip_ranges:x"`},
		"item of a rule": {
			report,
			"item ip_rules:ver_5:deny:127.0.0.2/32 is missing",
			report,
			`"ip_rules:ver_5:deny:127.0.0.2/32"`,
			`"ip_rules:x"`,
		},
		"item of the product": {report, "item product:prd_1 is missing", report, `"product:prd_1"`, `"product:x"`},
		"item of an owner": {
			report,
			"item owner_fallback:tnt_2 is missing",
			report,
			`"owner_fallback:tnt_2"`,
			`"owner_fallback:x"`,
		},
		"a window that is none": {project, "shape", project, `"month": 5000`, `"week": 5000`},
		"a limit of nothing":    {project, "shape", project, `"month": 5000`, `"month": 0`},
		"a range that is none":  {rows + ": line 16", "shape", rows, `"203.0.113.0/24"`, `"203.0.113.0/33"`},
		"item of usage": {
			report,
			"usage_analytics:prj_0000000000sample is missing",
			report,
			`"usage_analytics:prj_0000000000sample"`,
			`"usage_analytics:x"`,
		},
		"item twice":    {report, "twice", report, `"version:ver_2"`, `"version:ver_1"`},
		"status":        {report, `has status "great"`, report, `"status":"exact"`, `"status":"great"`},
		"summary":       {report, "does not count", report, `"exact":1`, `"exact":2`},
		"code":          {report, "no proper code", report, `"code":"data.version`, `"code":"kong.version`},
		"unknown field": {report, "shape", report, `"remedy":null`, `"cure":null`},
		"format":        {report, "another format", report, "postern-ledger/1", "postern-ledger/9"},
		"project":       {report, "another format or project", report, `"name":"shop"`, `"name":"chop"`},
		"source elsewhere": {
			"nowhere.json",
			"missing",
			report,
			`"file":"project-config.json"`,
			`"file":"nowhere.json"`,
		},
		"source pointer":  {report, "not there", report, `"/versions/1"`, `"/versions/7"`},
		"source line":     {report, "not there", report, `"pointer":"/20"`, `"pointer":"/21"`},
		"probe":           {report, "not recorded", report, `"probes":[]`, `"probes":["x"]`},
		"config field":    {project, "shape", project, `"display_name"`, `"displayed"`},
		"config document": {project, "follows", project, "\n}\n", "\n}\n{}\n"},
		"key row":         {rows + ": line 1", "shape", rows, `"owner"`, `"boss"`},
		"key row of another": {
			rows,
			"another project",
			rows,
			`"project_id":"prj_0000000000sample"`,
			`"project_id":"prj_2"`,
		},
		"key row without sum": {rows, "no SHA-256", rows, `"sha256":"`, `"sha256":"00`},
		"openapi":             {"openapi/1.0.0.json", "no JSON document", "openapi/1.0.0.json", "{", "["},
		"openapi deep": {
			"openapi/1.0.0.json",
			"nested too deeply",
			"openapi/1.0.0.json",
			`"3.0.3"`,
			strings.Repeat("[", 100) + strings.Repeat("]", 100),
		},
		"generator": {
			"MANIFEST.json", "not the name of a program",
			"MANIFEST.json", `"postern test"`, `"\u001b]0;evil\u0007"`,
		},
		"item on a terminal":   {report, "item ?[2Jx", report, `"id":"version:ver_2"`, `"id":"\u001b[2Jx"`},
		"manifest format":      {"MANIFEST.json", "format", "MANIFEST.json", "postern-bundle/2", "postern-bundle/9"},
		"manifest counts keys": {"MANIFEST.json", "counts 26 keys", "MANIFEST.json", `"keys": 25`, `"keys": 26`},
	}
	for name, c := range cases {
		e := unpacked(t)
		e.reseal(t)
		before := e.files[c.file]
		e.swap(c.file, c.old, c.new)
		if e.files[c.file] == before {
			t.Errorf("%s: the case changes nothing", name)
		}
		if c.file != "MANIFEST.json" {
			e.reseal(t)
		}
		e.resum()
		refusedAs(t, name, e.pack(t), c.entry, c.says)
	}
}

func refusedAs(t *testing.T, name string, data []byte, entry, says string) {
	t.Helper()
	_, err := verify(data)
	var refusal *fault.Error
	if !asFault(err, &refusal) || refusal.Kind != fault.Invalid {
		t.Errorf("%s: %v, want a refusal", name, err)
		return
	}
	if !strings.HasPrefix(refusal.Public, entry+": ") || !strings.Contains(refusal.Public, says) {
		t.Errorf("%s: %q, want it to name %s and say %q", name, refusal.Public, entry, says)
	}
}

func asFault(err error, into **fault.Error) bool {
	return errors.As(err, into)
}

func TestVerifyRefusesOverlappingEntries(t *testing.T) {
	e := unpacked(t)
	data := e.pack(t)
	// The second record of the central directory is made to point at the first
	// entry's bytes (APPNOTE 4.3.12: the offset stands at 42).
	first := bytes.Index(data, []byte("PK\x01\x02"))
	second := first + 4 + bytes.Index(data[first+4:], []byte("PK\x01\x02"))
	copy(data[second+42:second+46], data[first+42:first+46])
	refusedAs(t, "overlap", data, e.names[1], "shares bytes with "+e.names[0])
}

func TestVerifyBelievesNoDeclaredSize(t *testing.T) {
	e := unpacked(t)
	data := e.pack(t)
	at := bytes.Index(data, []byte("PK\x01\x02"))
	size := binary.LittleEndian.Uint32(data[at+24:])
	binary.LittleEndian.PutUint32(data[at+24:], size-1) // uncompressed size, 4.3.12
	if _, err := verify(data); fault.CodeOf(err) != "bundle_invalid" {
		t.Errorf("an entry that is longer than it says: %v", err)
	}
	binary.LittleEndian.PutUint32(data[at+24:], 0xfffffff0)
	refusedAs(t, "huge", data, e.names[0], "times its size")
}

func TestVerifyRefusesWhatIsNoZip(t *testing.T) {
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
