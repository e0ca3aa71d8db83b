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

func TestEveryFeatureHasAFateOnEveryTarget(t *testing.T) {
	for _, target := range targets.All() {
		for _, hole := range target.Check() {
			t.Error(hole)
		}
	}
}

func TestCheckNamesEveryKindOfHole(t *testing.T) {
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
		`x: teleport is not a feature`,
	}
	if diff := cmp.Diff(want, broken.Check()); diff != "" {
		t.Errorf("holes (-want +got):\n%s", diff)
	}
}

func TestTargetsHaveDistinctNamesAndFormats(t *testing.T) {
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

// The committed page is what the website and the dashboard show.
func TestMatrix_golden(t *testing.T) {
	golden.Compare(t, "../../docs/portability.md", targets.Matrix())
}
