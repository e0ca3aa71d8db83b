package kong

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"postern/bundle"
)

var recordNow = flag.Bool("record", false, "write down the present edition in released/; see bundle/released_test.go")

func TestRecordRelease(t *testing.T) {
	if *recordNow {
		recordRelease(t, bundle.Edition, files)
		return
	}
	for edition := 1; edition < bundle.Edition; edition++ {
		if _, err := releases.ReadFile(fmt.Sprintf("released/%d.json", edition)); err != nil {
			t.Errorf("edition %d is not written down: %v", edition, err)
		}
	}
}

func recordRelease(t *testing.T, edition int, from fs.FS) {
	t.Helper()
	var names []string
	for name := range marks(buildOf(t)) {
		names = append(names, name)
	}
	known := map[string]bundle.Template{}
	for _, one := range templates {
		text, err := fs.ReadFile(from, one.source)
		if err != nil {
			t.Fatal(err)
		}
		known[one.name] = bundle.NewTemplate(string(text), names)
	}
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fmt.Sprintf("released/%d.json", edition), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// buildOf is the build of the sample export.
func buildOf(t *testing.T) *bundle.Build {
	t.Helper()
	in := sampleInput()
	return &bundle.Build{Project: in.Project, Options: in.Options, AddressOf: in.AddressOf, Generator: in.Generator}
}
