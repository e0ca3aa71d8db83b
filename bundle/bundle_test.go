package bundle_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/golden"
	"postern/testkit/sample"
)

func sampleInput() bundle.Input {
	keys := sample.Keys()
	return bundle.Input{
		Project: sample.Project("https://up.example:8443"), Keys: sample.Stream(keys), KeyCount: int64(len(keys)),
		Options: bundle.Options{Format: bundle.FormatData, Consumers: true},
		Target:  bundle.Data, AddressOf: sample.AddressOf, Generator: "postern test",
	}
}

func write(t *testing.T, in bundle.Input) ([]byte, bundle.Result) {
	t.Helper()
	var out bytes.Buffer
	result, err := bundle.Write(t.Context(), &out, in)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	return out.Bytes(), result
}

func unzip(t *testing.T, data []byte) (names []string, files map[string]string) {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("open zip: %v", err)
	}
	files = map[string]string{}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatalf("open %s: %v", f.Name, err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("read %s: %v", f.Name, err)
		}
		names, files[f.Name] = append(names, f.Name), string(text)
	}
	return names, files
}

func verify(data []byte) (bundle.Report, error) {
	return bundle.Verify(
		context.Background(),
		bytes.NewReader(data),
		int64(len(data)),
		bundle.Against{Targets: []bundle.Target{bundle.Data}},
	)
}

// everyInput exports everything that a data zip can have, with signatures that are the same in every run.
func everyInput() bundle.Input {
	in := sampleInput()
	in.Project, in.Users, in.Relations = sample.Everything()
	in.Sign = sample.Sign
	return in
}

func TestWrite_golden(t *testing.T) {
	data, _ := write(t, everyInput())
	if _, err := verify(data); err != nil {
		t.Errorf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	golden.CompareDir(t, filepath.Join("testdata", "data"), files)
}

// A feature that the sample lacks would be in no golden file.
func TestEverything_features(t *testing.T) {
	data, _ := write(t, everyInput())
	_, files := unzip(t, data)
	for _, f := range snapshot.Features() {
		if !strings.Contains(files["MIGRATION-REPORT.json"], `"kind":"`+string(f)+`"`) {
			t.Errorf("the ledger has no item of the feature %s: add it to sample.Everything", f)
		}
	}
}

func TestWrite_deterministic(t *testing.T) {
	first, result := write(t, sampleInput())
	second, _ := write(t, sampleInput())
	if !bytes.Equal(first, second) {
		t.Error("two exports of one state differ")
	}
	if result.SHA256 != sha256.Sum256(first) || result.Size != int64(len(first)) {
		t.Error("the result does not describe the archive")
	}
	changed := sampleInput()
	changed.Project.DisplayName = "Another"
	if third, _ := write(t, changed); bytes.Equal(first, third) {
		t.Error("exports of two states are equal")
	}
}

func TestWrite_sortedEntries(t *testing.T) {
	data, result := write(t, sampleInput())
	names, _ := unzip(t, data)
	if !slices.IsSorted(names) || len(names) != result.Entries {
		t.Errorf("%d entries, not sorted or not %d: %v", len(names), result.Entries, names)
	}
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range zr.File {
		if !f.Modified.Equal(sample.Base.Truncate(2 * time.Second)) {
			t.Errorf("%s: modified %s, want that of the state", f.Name, f.Modified)
		}
	}
}

func TestGuide_files(t *testing.T) {
	for _, keys := range []bundle.KeysOption{bundle.KeysHashes, bundle.KeysMint, bundle.KeysNone} {
		in := sampleInput()
		in.Options.Keys = keys
		data, _ := write(t, in)
		names, files := unzip(t, data)
		var described []string
		for line := range strings.Lines(files["SCHEMA.md"]) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "## `"); ok {
				described = append(described, strings.TrimSuffix(name, "`"))
			}
		}
		if diff := cmp.Diff(names, described); diff != "" {
			t.Errorf("keys=%s: files and sections (-files +sections):\n%s", keys, diff)
		}
	}
}

func TestLedger_keysLeftOut(t *testing.T) {
	for name, change := range testkit.ByName(map[string]func(*bundle.Options){
		"keys none":        func(o *bundle.Options) { o.Keys = bundle.KeysNone },
		"without consumer": func(o *bundle.Options) { o.Consumers = false },
	}) {
		in := sampleInput()
		change(&in.Options)
		data, _ := write(t, in)
		_, files := unzip(t, data)
		if _, have := files["tenants/default/keys/keys.jsonl"]; have {
			t.Errorf("%s: key rows are in the zip", name)
		}
		ledger := files["MIGRATION-REPORT.json"]
		if got := strings.Count(ledger, `"code":"data.key.left_out"`); got != len(sample.Keys()) {
			t.Errorf("%s: %d keys reported as left out, want every one of %d", name, got, len(sample.Keys()))
		}
		if all := strings.Join(slices.Collect(maps.Values(files)), ""); strings.Contains(all, "billing-service") {
			t.Errorf("%s: the name of an owner is in the zip", name)
		}
		if _, err := verify(data); err != nil {
			t.Errorf("%s: Verify: %v", name, err)
		}
	}
}

func TestProgress_keys(t *testing.T) {
	in := sampleInput()
	done := map[string]int64{}
	in.Progress = func(part string, n, total int64) {
		if total != in.KeyCount {
			t.Errorf("%s: total %d, want %d", part, total, in.KeyCount)
		}
		done[part] = n
	}
	write(t, in)
	want := map[string]int64{
		"tenants/acme/keys/keys.jsonl":    in.KeyCount,
		"tenants/default/keys/keys.jsonl": in.KeyCount,
		"tenants/gone/keys/keys.jsonl":    in.KeyCount,
		"MIGRATION-REPORT.json":           in.KeyCount,
	}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestWrite_invalidInput(t *testing.T) {
	target := func(url string) func(*bundle.Input) {
		return func(in *bundle.Input) { in.Project.Versions[0].Environments[0].Target = url }
	}
	cases := map[string]func(*bundle.Input){
		"unknown keys option":  func(in *bundle.Input) { in.Options.Keys = "all" },
		"format of another":    func(in *bundle.Input) { in.Options.Format = bundle.FormatGateway },
		"project name":         func(in *bundle.Input) { in.Project.Name = "$(id)" },
		"project id":           func(in *bundle.Input) { in.Project.ID = "../../etc" },
		"version name":         func(in *bundle.Input) { in.Project.Versions[0].Name = "../1" },
		"environment name":     func(in *bundle.Input) { in.Project.Versions[0].Environments[0].Name = "a'b" },
		"environment id":       func(in *bundle.Input) { in.Project.Versions[0].Environments[0].ID = "x" },
		"tenant name":          func(in *bundle.Input) { in.Project.Tenants[0].Name = ".." },
		"fallback owner":       func(in *bundle.Input) { in.Project.FallbackOwner = "a\nb" },
		"target with userinfo": target("http://u:p@x/"),
		"target with query":    target("http://x/?a"),
		"target of a file":     target("file:///etc"),
	}
	for name, change := range testkit.ByName(cases) {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			change(&in)
			if _, err := bundle.Write(t.Context(), io.Discard, in); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%v, want an error of kind Invalid", err)
			}
		})
	}
}

func TestWrite_invalidKeys(t *testing.T) {
	good := snapshot.Key{ID: "key_1", ProjectID: sample.ProjectID, Owner: "a", TenantID: "tnt_1"}
	cases := map[string]func(*snapshot.Key){
		"of another project": func(k *snapshot.Key) { k.ProjectID = "prj_2" },
		"of another tenant":  func(k *snapshot.Key) { k.TenantID = "tnt_2" },
		"without an owner":   func(k *snapshot.Key) { k.Owner = "" },
		"owner with newline": func(k *snapshot.Key) { k.Owner = "a\r\nX-Admin: 1" },
		"out of order":       func(k *snapshot.Key) { k.ID = "key_0" },
		"twice":              func(*snapshot.Key) {},
	}
	for name, change := range testkit.ByName(cases) {
		in, bad := sampleInput(), good
		change(&bad)
		in.Keys = func(context.Context) iter.Seq2[snapshot.Key, error] {
			return func(yield func(snapshot.Key, error) bool) {
				if yield(good, nil) {
					yield(bad, nil)
				}
			}
		}
		if _, err := bundle.Write(t.Context(), io.Discard, in); err == nil {
			t.Errorf("a key %s was exported", name)
		}
	}
}

func TestWrite_errors(t *testing.T) {
	broken := errors.New("the database is gone")
	in := sampleInput()
	in.Keys = func(context.Context) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) { yield(snapshot.Key{}, broken) }
	}
	if _, err := bundle.Write(t.Context(), io.Discard, in); !errors.Is(err, broken) {
		t.Errorf("failing rows: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bundle.Write(ctx, io.Discard, sampleInput()); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := bundle.Write(t.Context(), failing{broken}, sampleInput()); !errors.Is(err, broken) {
		t.Errorf("failing writer: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write(p []byte) (int, error) { return len(p), f.err }
