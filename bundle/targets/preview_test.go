package targets_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/testkit/sample"
)

func TestPreview_sameAsExport(t *testing.T) {
	for _, target := range targets.All() {
		for _, options := range []bundle.Options{
			{Keys: bundle.KeysHashes, Consumers: true},
			{Keys: bundle.KeysMint, Consumers: true},
			{Keys: bundle.KeysNone, Consumers: true},
			{},
		} {
			options.Format = target.Format
			t.Run(target.Name+"/"+string(options.Keys), func(t *testing.T) {
				project, keys := sample.Hostile("https://up.example")
				in := bundle.Input{
					Project:   project,
					Users:     sample.People(project),
					Keys:      sample.Stream(keys),
					KeyCount:  int64(len(keys)),
					Options:   options,
					Target:    target,
					AddressOf: sample.AddressOf,
				}
				preview, err := bundle.Preview(t.Context(), in, 1000)
				if err != nil {
					t.Fatal(err)
				}
				want := digestOf(t, in)
				for i, line := range want.Lines {
					want.Lines[i].Names = line.Names[:min(len(line.Names), bundle.PreviewNames)]
				}
				if diff := cmp.Diff(want, preview, cmpopts.IgnoreUnexported(bundle.Digest{})); diff != "" {
					t.Errorf("the ledger (-want, +preview):\n%s", diff)
				}
				if preview.Partial {
					t.Error("all keys were counted, and it says some")
				}
				some, err := bundle.Preview(t.Context(), in, 1)
				if err != nil || !some.Partial {
					t.Errorf("with one key: partial %v, %v", some.Partial, err)
				}
			})
		}
	}
}

// digestOf exports, and sums the ledger in the zip up.
func digestOf(t *testing.T, in bundle.Input) bundle.Digest {
	t.Helper()
	var out bytes.Buffer
	if _, err := bundle.Write(t.Context(), &out, in); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	file, err := archive.Open("MIGRATION-REPORT.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var ledger struct{ Items []bundle.Item }
	if err := json.NewDecoder(file).Decode(&ledger); err != nil {
		t.Fatal(err)
	}
	var sum bundle.Digest
	for _, item := range ledger.Items {
		sum.Add(item)
	}
	return sum
}
