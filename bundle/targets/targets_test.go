package targets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/testkit/golden"
)

func TestCheck_everyTarget(t *testing.T) {
	for _, target := range targets.All() {
		for _, hole := range target.Check() {
			t.Error(hole)
		}
	}
}

func TestCheck_holes(t *testing.T) {
	broken := bundle.Target{Name: "x", Table: bundle.Table{}}
	for f, fates := range bundle.Data.Table {
		broken.Table[f] = fates
	}
	delete(broken.Table, snapshot.FeatureKey)
	broken.Table["teleport"] = []bundle.Fate{{Reason: "never", Status: bundle.Skipped, Note: "No.", How: "not"}}
	one := broken.Table[snapshot.FeatureTenant][0]
	broken.Table[snapshot.FeatureTenant] = []bundle.Fate{one, one}
	broken.Table[snapshot.FeatureVersion] = []bundle.Fate{{Reason: "r", Status: bundle.Exact}}
	want := []string{
		`x: version: fate "r" is incomplete`,
		`x: tenant: fate "document" twice`,
		`x: key has no fate`,
		`x: it doesn't say what to do with new keys`,
		`x: it doesn't say what to do first`,
		`x: teleport is not a feature`,
	}
	if diff := cmp.Diff(want, broken.Check()); diff != "" {
		t.Errorf("holes (-want +got):\n%s", diff)
	}
}

func TestAll_distinctNames(t *testing.T) {
	for _, target := range targets.All() {
		got, err := targets.For(target.Format)
		if err != nil || got.Name != target.Name {
			t.Errorf("For(%s) = %s, %v, want %s", target.Format, got.Name, err, target.Name)
		}
	}
	if _, err := targets.For("tarball"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("For(tarball): %v, want an error of kind Invalid", err)
	}
}

// Items that are the same for every project have their own titles.
func TestTitles_always(t *testing.T) {
	for _, target := range targets.All() {
		seen := map[string]snapshot.Feature{}
		for f, fates := range target.Table {
			for _, fate := range fates {
				title := fate.Title
				if title == "" {
					title = f.Title()
				}
				if !fate.Always {
					continue
				}
				// A feature has several items at once only if it is FeatureRequestLimits.
				other, taken := seen[title]
				if taken && (other != f || f == snapshot.FeatureRequestLimits) {
					t.Errorf("%s: %s of %s is called %s, like an item of %s", target.Name, fate.Reason, f, title, other)
				}
				seen[title] = f
			}
		}
	}
}

// The website and the dashboard show the committed page.
func TestMatrix_golden(t *testing.T) {
	golden.Compare(t, "../../docs/portability.md", targets.Matrix())
}
