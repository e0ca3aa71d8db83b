package movein_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postern/core/kongfile"
	"postern/core/movein"
	"postern/testkit/golden"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// read reads a file and plans its import.
func read(t *testing.T, text string, o movein.Options) (*kongfile.File, *movein.Plan) {
	t.Helper()
	f, err := kongfile.Read([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Now = now
	p, err := movein.Kong(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

// files returns the files of testdata by their names.
func files(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.[yj]*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(text)
	}
	return out
}

// planText returns a plan with a line for each item.
func planText(t *testing.T, p *movein.Plan) string {
	t.Helper()
	var out strings.Builder
	for _, item := range p.Items {
		fmt.Fprintf(&out, "%4d %-11s %-18s %s: %s", item.Line, item.Status, item.Kind, item.Name,
			strings.Join(item.Codes, ", "))
		if len(item.Details) > 0 {
			fmt.Fprintf(&out, " (%s)", strings.Join(item.Details, ", "))
		}
		out.WriteByte('\n')
	}
	p.Items = nil
	rest, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	out.Write(rest)
	out.WriteByte('\n')
	return out.String()
}

func TestKong_golden(t *testing.T) {
	got := map[string]string{}
	for name, text := range files(t) {
		_, p := read(t, text, movein.Options{})
		got[name] = planText(t, p)
	}
	golden.CompareDir(t, "testdata/plans", got)
}

// The sum of the items is the sum of the entities, each with a status and a note.
func TestKong_completeness(t *testing.T) {
	for name, text := range files(t) {
		t.Run(name, func(t *testing.T) {
			f, p := read(t, text, movein.Options{})
			if len(p.Items) != len(f.Entities) || p.Summary.Total() != int64(len(f.Entities)) {
				t.Errorf("%d items and a summary of %d for %d "+
					"entities", len(p.Items), p.Summary.Total(), len(f.Entities))
			}
			lines := int64(0)
			for _, line := range p.Lines() {
				lines += line.Count
			}
			if lines != int64(len(f.Entities)) {
				t.Errorf("the ledger has %d items for %d entities", lines, len(f.Entities))
			}
			for _, item := range p.Items {
				switch {
				case item.Note == "" || item.Status == "" || item.Name == "" || item.Line == 0:
					t.Errorf("incomplete: %+v", item)
				case item.Note == "Postern doesn't have this kind of entity." && item.Codes[0] != "unknown":
					t.Errorf("no fate for %v", item.Codes)
				}
			}
		})
	}
}

// secrets are values of the files in testdata that no plan has.
var secrets = []string{
	"4d1c9a2b7e8f4a6d", "not-a-real", "not a real", "1e0f3a5c7b9d", "5f3759df", "c1a2b3d4", "aa01bb23", "9b8e7d6c",
}

func TestKong_secrets(t *testing.T) {
	for name, text := range files(t) {
		_, p := read(t, text, movein.Options{AllowWeak: true})
		out, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(string(out), secret) {
				t.Errorf("the plan of %s has the secret %s", name, secret)
			}
		}
	}
}
