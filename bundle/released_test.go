package bundle

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"postern/core/snapshot"
)

// Before the first change to a generated file after a release:
//
//	go test ./bundle ./bundle/kong -run TestRecordRelease -record
//
// writes down the present edition, from the zips in testdata/released/<edition>;
// then edition grows by one.
var recordNow = flag.Bool("record", false, "write down the present edition in released/")

func TestRecordRelease(t *testing.T) {
	if !*recordNow {
		if _, err := releaseOf(Edition - 1); err != nil {
			t.Errorf("the edition before this one is not written down: %v", err)
		}
		return
	}
	recordRelease(t, Edition)
}

func recordRelease(t *testing.T, edition int) {
	t.Helper()
	var marks []string
	for name := range (&Build{Project: &snapshot.Project{}}).guideValues() {
		marks = append(marks, name)
	}
	r := release{GuideHead: NewTemplate(guideHead, marks), Sections: map[string][]string{}}
	add := func(list []string, text string) []string {
		if sum := textSum([]byte(text)); !slices.Contains(list, sum) {
			list = append(list, sum)
			slices.Sort(list)
		}
		return list
	}
	zips, err := filepath.Glob(filepath.Join("testdata", "released", strconv.Itoa(edition), "*.zip"))
	if err != nil || len(zips) == 0 {
		t.Fatalf("no zips of edition %d: %v", edition, err)
	}
	for _, name := range zips {
		for file, text := range filesOf(t, name) {
			switch {
			case path.Base(file) == noticeName:
				r.Notices = add(r.Notices, text)
			case file == guideFile:
				for _, section := range strings.Split(text, "\n## `")[1:] {
					of, doc, _ := strings.Cut(section, "`\n\n")
					r.Sections[genericName(of)] = add(r.Sections[genericName(of)], doc)
				}
			}
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("released", strconv.Itoa(edition)+".json")
	if err := os.WriteFile(name, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func filesOf(t *testing.T, name string) map[string]string {
	t.Helper()
	zr, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer zr.Close()
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
