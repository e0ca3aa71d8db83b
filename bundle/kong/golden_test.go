package kong

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/testkit/golden"
	"postern/testkit/sample"
)

// TestTarget_golden compares the zip for Kong with testdata/golden. Files that are copies are in its list alone: those
// of the plugin, and those that the data zip has too, which is in ../testdata/data.
func TestTarget_golden(t *testing.T) {
	in := sampleInput()
	in.Project, in.Users, in.Relations = sample.Everything()
	in.Sign = sample.Sign
	exported := write(t, in)
	in.Target, in.Options.Format = bundle.Data, bundle.FormatData
	var zip bytes.Buffer
	if _, err := bundle.Write(t.Context(), &zip, in); err != nil {
		t.Fatal(err)
	}
	data := unzipped(t, zip.Bytes())
	sources := map[string]string{}
	for _, one := range templates {
		sources[one.name] = one.source
	}
	kept := map[string]string{}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(exported)) {
		text, from := exported[name], ""
		source, _ := files.ReadFile(sources[name])
		switch {
		case string(source) == text:
			from = "bundle/kong/" + sources[name]
		case data[name] == text:
			from = "the data zip"
		default:
			kept[name] = text
		}
		fmt.Fprintln(&list, strings.TrimSpace(fmt.Sprintf("%d bytes\t%s\t%s", len(text), name, from)))
	}
	kept["FILES"] = list.String()
	golden.CompareDir(t, filepath.Join("testdata", "golden"), kept)
}
