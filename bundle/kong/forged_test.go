package kong

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/bundle/jsonfile"
	"postern/platform/fault"
	"postern/testkit/sample"
)

// forge packs files as an export does, with a manifest and sums that fit them.
func forge(t *testing.T, files map[string]string) []byte {
	t.Helper()
	const manifest, sums = "MANIFEST.json", "SHA256SUMS"
	var m bundle.Manifest
	if err := json.Unmarshal([]byte(files[manifest]), &m); err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(files))
	m.Files = nil
	for _, name := range names {
		if name != manifest && name != sums {
			m.Files = append(m.Files, bundle.ManifestFile{Name: name, Size: int64(len(files[name]))})
		}
	}
	var text strings.Builder
	if err := jsonfile.Write(&text, m); err != nil {
		t.Fatal(err)
	}
	files[manifest], files[sums] = text.String(), ""
	for _, name := range names {
		if name != sums {
			files[sums] += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(files[name])), name)
		}
	}
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, name := range names {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: sample.Base.Truncate(2e9)}
		header.SetMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			header.SetMode(0o755)
		}
		w, err := zw.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestVerify_missingFiles(t *testing.T) {
	original := sampleFiles(t)
	needed := 0
	for name := range original {
		if !strings.HasPrefix(name, "gateway/") && !strings.HasPrefix(name, "verify/") {
			continue
		}
		needed++
		files := maps.Clone(original)
		delete(files, name)
		refused(t, forge(t, files), name, "missing")
	}
	if needed != 35 {
		t.Errorf("%d files of the gateway, want 35", needed)
	}
}

// An archive whose sums fit still has to have the same keys in both places.
func TestVerify_keyRows(t *testing.T) {
	const rows = "tenants/default/keys/keys.jsonl"
	original := sampleFiles(t)
	data := forge(t, maps.Clone(original))
	if _, err := check(t, data); err != nil {
		t.Fatalf("forged without a change: %v", err)
	}
	keys := sample.Keys()
	active, graced := hexOf(keys["active"].Hash), hexOf(*keys["graced"].OldHash)
	table := original[gatewayFile]
	entryOf := func(sum string) string {
		from := strings.Index(table, `"`+sum+`"`)
		return table[from : from+strings.Index(table[from:], "\n")]
	}
	other := strings.Repeat("ab", 32)
	entry := entryOf(active)
	edited := func(old, new string) string { return strings.Replace(entry, old, new, 1) }
	of := func(name string) string { return "of the entry " + hexOf(keys[name].Hash) }
	ofActive := "of the entry " + active
	for name, c := range map[string]struct{ file, old, new, says string }{
		"another owner":       {gatewayFile, "owner=billing-service", "owner=mallory", ofActive},
		"another id":          {gatewayFile, `"key_01 `, `"key_02 `, ofActive},
		"another consumer":    {gatewayFile, entry, edited("consumer=", "consumer=0"), ofActive},
		"another environment": {gatewayFile, entry, edited("env=prod ", ""), ofActive},
		"another limit":       {gatewayFile, "limits=month:999,", "limits=month:9990,", of("limited")},
		"a limit more":        {gatewayFile, entry, edited(" consumer=", " limits=none consumer="), ofActive},
		"a limit less":        {gatewayFile, "limits=none ", "", of("unlimited")},
		"another range":       {gatewayFile, "ips=127.0.0.1/32,", "ips=127.0.0.0/8,", of("nearby")},
		"another tenant":      {gatewayFile, entry, edited("tenant=tnt_1", "tenant=tnt_2"), ofActive},
		"no longer frozen":    {gatewayFile, " frozen ", " ", of("frozen")},
		"an entry more":       {gatewayFile, entry, edited(active, other) + "\n" + entry, "of the entry " + other},
		"an entry twice":      {gatewayFile, entry, entry + "\n" + entry, ofActive},
		"an entry less":       {gatewayFile, entryOf(graced), `"_": "_",`, "of the entry _"},
		"no number of a key":  {gatewayFile, entry, `"` + active + `": 1,`, ofActive},
		"a second table":      {gatewayFile, `"keys": {`, `"keys": {}, "keys": {`, "two fields with the same name"},
		"another row":         {rows, active, other, ofActive},
		"a row of another":    {rows, `"owner":"billing-service"`, `"owner":"mallory"`, ofActive},
	} {
		files := maps.Clone(original)
		files[c.file] = strings.Replace(files[c.file], c.old, c.new, 1)
		if files[c.file] == original[c.file] {
			t.Errorf("%s: the case changes nothing", name)
		}
		t.Run(name, func(t *testing.T) { refused(t, forge(t, files), gatewayFile, c.says) })
	}
}

// The ledger does not point at the entry of a new key: only its row requires it.
func TestVerify_missingNewKey(t *testing.T) {
	in := sampleInput()
	in.Options.Keys = bundle.KeysMint
	files := write(t, in)
	_, sum, _ := strings.Cut(files["tenants/default/keys/keys.jsonl"], `"minted_sha256":"`)
	at := strings.Index(files[gatewayFile], `"`+sum[:64]+`"`)
	if at < 0 {
		t.Fatal("the gateway does not know the new key")
	}
	end := at + strings.Index(files[gatewayFile][at:], "\n")
	files[gatewayFile] = files[gatewayFile][:at] + files[gatewayFile][end:]
	refused(t, forge(t, files), gatewayFile, "it doesn't have an entry for line 1 of tenants/default/keys/keys.jsonl")
}

// refused checks that Verify refuses data with a text that names entry and contains says.
func refused(t *testing.T, data []byte, entry, says string) {
	t.Helper()
	_, err := check(t, data)
	var refusal *fault.Error
	if !errors.As(err, &refusal) || refusal.Kind != fault.Invalid {
		t.Fatalf("%v, want a refusal", err)
	}
	if !strings.HasPrefix(refusal.Public, entry+": ") {
		t.Errorf("%q, want it to name %s", refusal.Public, entry)
	}
	if !strings.Contains(refusal.Public, says) {
		t.Errorf("%q, want it to contain %q", refusal.Public, says)
	}
}
