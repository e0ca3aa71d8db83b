package kong

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
)

// generatedFiles are those of an export that follow from the others.
func generatedFiles(files map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		return name == "SHA256SUMS" || name == "MANIFEST.json" || name == "project-config.json" ||
			strings.HasSuffix(name, "/keys.jsonl") || strings.HasSuffix(name, "/minted.csv")
	})
}

// flipped changes one letter in the middle of a text, so that its size and, if it is
// JSON, its shape stay.
func flipped(text string) string {
	for i := len(text) / 2; i < len(text); i++ {
		if c := text[i]; c >= 'b' && c <= 'y' && text[i-1] >= 'a' && text[i-1] <= 'z' {
			return text[:i] + string(c+1) + text[i+1:]
		}
	}
	return text + " "
}

// An attacker who changes a file can sum it again, so its content is derived from the rest.
func TestVerifyFindsEveryChangedFile(t *testing.T) {
	in := sampleInput()
	in.Options.Keys = bundle.KeysMint
	original := write(t, in)
	for _, name := range generatedFiles(original) {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(original)
			files[name] = flipped(files[name])
			if _, err := check(t, forge(t, files)); err == nil {
				t.Error("taken for whole")
			}
			files[name] = original[name] + "\n"
			refused(t, forge(t, files), name, "")
		})
	}
}

// A file that no export has is refused, summed and listed as it may be.
func TestVerifyRefusesAddedFiles(t *testing.T) {
	released, err := os.ReadFile("../testdata/released/1/gateway.zip")
	if err != nil {
		t.Fatal(err)
	}
	for name, original := range map[string]map[string]string{
		"present edition": sampleFiles(t), "edition 1": unzipped(t, released),
	} {
		for _, added := range []string{
			"gateway/plugins/kong/plugins/postern-auth/extra.lua", "gateway/.env", "install.sh",
			"tenants/evil/keys/NOTICE.md", "openapi/9.9.9.json",
		} {
			t.Run(name+"/"+added, func(t *testing.T) {
				files := maps.Clone(original)
				files[added] = "{}"
				refused(t, forge(t, files), added, "it is no file of an export")
			})
		}
	}
}

// The gateway calls the upstreams that project-config.json names, whichever of the
// two was changed.
func TestVerifyHoldsUpstreamsToTheProject(t *testing.T) {
	original := sampleFiles(t)
	for name, c := range map[string]struct{ file, old, new string }{
		"host in gateway.yaml":       {gatewayFile, `"host":"up.example"`, `"host":"up.exampel"`},
		"port in gateway.yaml":       {gatewayFile, `"port":8443`, `"port":443`},
		"no certificates":            {gatewayFile, `"tls_verify":true`, `"tls_verify":false`},
		"host in project-config":     {"project-config.json", `https://up.example:8443`, `https://up.exampel:8443`},
		"policy in gateway.yaml":     {gatewayFile, `"mode":"authenticate"`, `"mode":"passthrough"`},
		"owner of a consumer":        {gatewayFile, `"username":"ana"`, `"username":"eve"`},
		"scopes of a key type":       {gatewayFile, `"scopes":["read"]`, `"scopes":["*"]`},
		"another name for the route": {gatewayFile, `"paths":["~/1\\.0\\.0/dev`, `"paths":["~/1\\.0\\.0/dew`},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(original)
			files[c.file] = strings.Replace(files[c.file], c.old, c.new, 1)
			if files[c.file] == original[c.file] {
				t.Fatal("the case changes nothing")
			}
			if data := forge(t, files); c.file == gatewayFile {
				refused(t, data, gatewayFile, "")
			} else if _, err := check(t, data); err == nil {
				t.Error("taken for whole")
			}
		})
	}
}

func check(t testing.TB, data []byte) (bundle.Report, error) {
	t.Helper()
	return bundle.Verify(t.Context(), bytes.NewReader(data), int64(len(data)),
		bundle.Against{Targets: []bundle.Target{bundle.Data, Target}})
}

// Zips of every released edition are whole, and those that were changed are not.
func TestVerifyTakesEveryReleasedEdition(t *testing.T) {
	zips, err := filepath.Glob("../testdata/released/*/*.zip")
	if err != nil || len(zips) < 7 {
		t.Fatalf("%d zips of released editions, want 7 or more: %v", len(zips), err)
	}
	for _, path := range zips {
		t.Run(filepath.ToSlash(strings.TrimPrefix(path, "../testdata/released/")), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := check(t, data); err != nil {
				t.Fatalf("Verify: %v", err)
			}
			original := unzipped(t, data)
			for _, name := range generatedFiles(original) {
				if name == "MIGRATION-REPORT.json" {
					continue // its texts are known of the present edition only
				}
				files := maps.Clone(original)
				files[name] = flipped(files[name])
				_, err := check(t, forge(t, files))
				named := name == probesFile || err != nil && strings.Contains(err.Error(), name)
				if err == nil || !named { // the ledger misses a probe whose id was changed
					t.Errorf("%s changed: %v, want a refusal that names it", name, err)
				}
			}
			files := maps.Clone(original)
			files[gatewayFile] = strings.Replace(files[gatewayFile], `"host":"up.example"`, `"host":"up.exampel"`, 1)
			if _, err := check(t, forge(t, files)); files[gatewayFile] != "" && err == nil {
				t.Error("an upstream changed in gateway.yaml alone: taken for whole")
			}
		})
	}
}

// What an earlier edition says of keys, owners and probes is held to its rows and its
// project as closely as what this one says.
func TestVerifyHoldsAnEarlierEditionToItsKeys(t *testing.T) {
	const consumers = `"consumers": [` + "\n"
	for name, c := range map[string]struct{ file, old, new string }{
		"an expired key":         {gatewayFile, " until=978307200 ", " "},
		"a key's type":           {gatewayFile, "type=kty_1", "type=kty_4"},
		"a key's scopes":         {gatewayFile, "scopes=orders:read", "scopes=*"},
		"the name of a consumer": {gatewayFile, `"username":"ana"`, `"username":"eve"`},
		"a consumer more":        {gatewayFile, consumers, consumers + `{"username":"eve"},`},
		"a plugin of a consumer": {gatewayFile, consumers + "    {", consumers +
			`    {"plugins":[{"name":"http-log","config":{"http_endpoint":"https://evil.example"}}],`},
		"where a lent key goes": {probesFile, `"path":"/1.0.0/`, `"path":"@evil.example/1.0.0/`},
		"an empty probe":        {probesFile, "{", "\n{"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, zip := range []string{"gateway.zip", "gateway-mint.zip"} {
				released, err := os.ReadFile("../testdata/released/1/" + zip)
				if err != nil {
					t.Fatal(err)
				}
				files := unzipped(t, released)
				changed := strings.Replace(files[c.file], c.old, c.new, 1)
				if changed == files[c.file] {
					t.Fatalf("%s: the case changes nothing", zip)
				}
				files[c.file] = changed
				refused(t, forge(t, files), c.file, "")
			}
		})
	}
}

func unzipped(t *testing.T, data []byte) map[string]string {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}
