package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var reportCases = map[string]struct {
	events []string
	passed bool
	shows  []string
	hides  []string
}{
	"passing": {
		events: []string{
			`{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}`,
			`{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}`,
			`{"Action":"pass","Package":"p","Elapsed":1.25}`,
		},
		passed: true,
		shows:  []string{"ok    p  1.2 s\n", "\n1 passed, 0 failed\n"},
		hides:  []string{"chatter"},
	},
	"a failure shows its output": {
		events: []string{
			`{"Action":"output","Package":"p","Test":"TestA","Output":"a.go:1: got 1\n"}`,
			`{"Action":"fail","Package":"p","Test":"TestA"}`,
			`{"Action":"pass","Package":"p","Test":"TestB"}`,
			`{"Action":"fail","Package":"p"}`,
		},
		shows: []string{"a.go:1: got 1", "FAIL  p", "1 passed, 1 failed"},
	},
	"a skipped test is a failure": {
		events: []string{
			`{"Action":"output","Package":"p","Test":"TestA","Output":"no browser\n"}`,
			`{"Action":"skip","Package":"p","Test":"TestA"}`,
			`{"Action":"pass","Package":"p","Test":"TestB"}`,
			`{"Action":"pass","Package":"p"}`,
		},
		shows: []string{"no browser", "p TestA was skipped", "1 passed, 1 failed"},
	},
	"a package without tests is none": {
		events: []string{
			`{"Action":"pass","Package":"p","Test":"TestA"}`,
			`{"Action":"skip","Package":"q"}`,
		},
		passed: true,
		shows:  []string{"1 passed, 0 failed"},
	},
	"a broken build": {
		events: []string{
			`{"ImportPath":"p","Action":"build-output","Output":"p/a.go:3: undefined: x\n"}`,
			`{"ImportPath":"p","Action":"build-fail"}`,
			`{"Action":"fail","Package":"p","FailedBuild":"p"}`,
		},
		shows: []string{"undefined: x", "FAIL  p", "0 passed, 1 failed"},
	},
	"a panic loses no output": {
		events: []string{
			`{"Action":"run","Package":"p","Test":"TestA"}`,
			`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: boom\n"}`,
			`{"Action":"fail","Package":"p"}`,
		},
		shows: []string{"panic: boom", "0 passed, 1 failed"},
	},
	"lines that are not events are shown": {
		events: []string{"go: errors parsing go.mod"},
		shows:  []string{"errors parsing go.mod", "0 passed, 0 failed"},
	},
	"nothing at all is a failure": {shows: []string{"0 passed, 0 failed"}},
}

func TestReport(t *testing.T) {
	for name, tt := range reportCases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			passed, err := report(strings.NewReader(strings.Join(tt.events, "\n")), &out, "")
			if err != nil {
				t.Fatal(err)
			}
			if passed != tt.passed {
				t.Errorf("passed = %v, want %v", passed, tt.passed)
			}
			for _, want := range tt.shows {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in:\n%s", want, out.String())
				}
			}
			for _, unwanted := range tt.hides {
				if strings.Contains(out.String(), unwanted) {
					t.Errorf("%q should not be in:\n%s", unwanted, out.String())
				}
			}
		})
	}
}

func TestReport_cases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cases.txt")
	events := `{"Action":"run","Package":"q","Test":"TestHangs"}
{"Action":"pass","Package":"q","Test":"TestB"}
{"Action":"fail","Package":"p","Test":"TestA/a case"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}`
	if _, err := report(strings.NewReader(events), io.Discard, file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "p TestA\np TestA/a case\nq TestB\n"; string(got) != want {
		t.Errorf("cases:\n%swant:\n%s", got, want)
	}
}
