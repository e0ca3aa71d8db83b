package kong

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
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
func TestVerify_changedFiles(t *testing.T) {
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
func TestVerify_addedFiles(t *testing.T) {
	original := sampleFiles(t)
	for _, added := range []string{
		"gateway/plugins/kong/plugins/postern-auth/extra.lua", "gateway/.env", "install.sh",
		"tenants/evil/keys/NOTICE.md", "openapi/9.9.9.json",
	} {
		t.Run(added, func(t *testing.T) {
			files := maps.Clone(original)
			files[added] = "{}"
			refused(t, forge(t, files), added, "it isn't part of the export")
		})
	}
}

// The gateway calls the upstreams that project-config.json names, whichever of the
// two was changed.
func TestVerify_upstreams(t *testing.T) {
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
