package bundle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
)

func TestFeatures_titles(t *testing.T) {
	var areas []snapshot.Area
	for _, a := range snapshot.Areas() {
		areas = append(areas, a.Area)
	}
	titles := map[string]snapshot.Feature{}
	for _, f := range snapshot.Features() {
		title := f.Title()
		if title == string(f) {
			t.Errorf("%s has no title", f)
		}
		if other, taken := titles[title]; taken {
			t.Errorf("%s and %s are both called %s", f, other, title)
		}
		titles[title] = f
		if !slices.Contains(areas, f.Area()) {
			t.Errorf("%s belongs to the unknown area %q", f, f.Area())
		}
	}
}

func TestDigest_everyItem(t *testing.T) {
	_, result := write(t, sampleInput())
	var counted contract.LedgerTotals
	people := 0
	for _, line := range result.Lines {
		counted.Add(line.Status, line.Configured, line.Count)
		if int64(len(line.Names)) != line.Count {
			t.Errorf("%s names %d of %d items", line.Code, len(line.Names), line.Count)
		}
		if line.Note == "" || !strings.HasPrefix(line.Code, "data."+line.Kind+".") {
			t.Errorf("an incomplete line: %+v", line)
		}
		if line.People {
			people++
		}
	}
	if counted != result.Summary {
		t.Errorf("the lines count %+v, the ledger %+v", counted, result.Summary)
	}
	if people == 0 || people == len(result.Lines) {
		t.Errorf("%d of %d lines name keys or people", people, len(result.Lines))
	}
}

func TestDigest_bounded(t *testing.T) {
	item := func(kind, id, name string) bundle.Item {
		return bundle.Item{
			ID:     kind + ":" + id,
			Kind:   kind,
			Name:   name,
			Status: bundle.Exact,
			Code:   "data." + kind + ".row",
		}
	}
	t.Run("names of a line", func(t *testing.T) {
		var d bundle.Digest
		for i := range 5000 {
			d.Add(item("key", fmt.Sprintf("key_%d", i), fmt.Sprintf("pst_…%04d", i)))
		}
		if l := d.Lines[0]; l.Count != 5000 || len(l.Names) != 1000 || l.Names[999] != "pst_…0999" {
			t.Errorf("count %d, %d names, want 5000 with the first 1000", l.Count, len(l.Names))
		}
	})
	t.Run("bytes of all names", func(t *testing.T) {
		var d bundle.Digest
		long := strings.Repeat("x", 1<<20)
		for i := range 4 {
			d.Add(item(fmt.Sprintf("kind%d", i), "1", long))
		}
		named := 0
		for _, l := range d.Lines {
			named += len(l.Names)
		}
		if len(d.Lines) != 4 || named != 2 {
			t.Errorf("%d lines, %d names of 1 MiB, want 4 and 2", len(d.Lines), named)
		}
	})
	t.Run("names of people", func(t *testing.T) {
		var d bundle.Digest
		for _, kind := range []string{"key", "users", "signup_policy", "version", "tenant"} {
			d.Add(item(kind, kind+"_1", "one"))
		}
		d.Add(bundle.Item{ID: "rate_limits:key_1:minute", Kind: "rate_limits", Code: "data.rate_limits.key"})
		d.Add(bundle.Item{ID: "rate_limits:prj_1:key:minute", Kind: "rate_limits", Code: "data.rate_limits.all"})
		for _, l := range d.Lines {
			want := slices.Contains([]string{"data.key.row", "data.users.row", "data.signup_policy.row",
				"data.rate_limits.key"}, l.Code)
			if l.People != want {
				t.Errorf("%s is of people: %v, want %v", l.Code, l.People, want)
			}
		}
	})
}
