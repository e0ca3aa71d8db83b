package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
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
	"postern/bundle/jsonfile"
	"postern/platform/fault"
	"postern/testkit/sample"
)

// editable is an unpacked archive that can be changed and packed again.
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

// reseal updates the manifest and the sums, as an attacker would.
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
	if err := jsonfile.Write(&text, m); err != nil {
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
	manifest = "MANIFEST.json"
	report   = "MIGRATION-REPORT.json"
	rows     = "tenants/default/keys/keys.jsonl"
	project  = "project-config.json"
)

// refusedAs checks that Verify refuses data with a text that names entry and contains
// says.
func refusedAs(t *testing.T, data []byte, entry, says string) {
	t.Helper()
	_, err := verify(data)
	var refusal *fault.Error
	if !errors.As(err, &refusal) || refusal.Kind != fault.Invalid {
		t.Errorf("%v, want a refusal", err)
		return
	}
	if !strings.HasPrefix(refusal.Public, entry+": ") {
		t.Errorf("%q, want it to name %s", refusal.Public, entry)
	}
	if !strings.Contains(refusal.Public, says) {
		t.Errorf("%q, want it to contain %q", refusal.Public, says)
	}
}

// change is a change of a file that Verify must refuse with a text that names entry and
// contains says.
type change struct{ entry, says, file, old, new string }

// refusesChange applies the change, updates the manifest and the sums as an attacker would, and checks the refusal.
func (e *editable) refusesChange(t *testing.T, c change) {
	t.Helper()
	e.reseal(t)
	before := e.files[c.file]
	e.swap(c.file, c.old, c.new)
	if e.files[c.file] == before {
		t.Error("the case changes nothing")
	}
	if c.file != "MANIFEST.json" {
		e.reseal(t)
	}
	e.resum()
	refusedAs(t, e.pack(t), c.entry, c.says)
}
