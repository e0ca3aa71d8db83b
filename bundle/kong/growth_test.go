package kong

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit"
)

// An export takes as many bytes of memory for each environment, however many there are: in one version, and each in its
// own version.
func TestExport_growth(t *testing.T) {
	for name, of := range testkit.ByName(map[string]func(n int) []snapshot.Version{
		"in one version": func(n int) []snapshot.Version {
			v := sampleInput().Project.Versions[0]
			v.Environments = environmentsOf(v, 0, n)
			return []snapshot.Version{v}
		},
		"in a version each": func(n int) (all []snapshot.Version) {
			for i := range n {
				v := sampleInput().Project.Versions[0]
				v.ID, v.Name = fmt.Sprintf("ver_%d", i), fmt.Sprintf("1.0.%d", i)
				v.Environments = environmentsOf(v, i, 1)
				all = append(all, v)
			}
			return all
		},
	}) {
		t.Run(name, func(t *testing.T) {
			allocated := func(n int) uint64 {
				in := sampleInput()
				project := *in.Project
				project.Versions = of(n)
				in.Project = &project
				in.Keys, in.KeyCount = many(0), 0
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := bundle.Write(t.Context(), io.Discard, in); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			few, some, more := allocated(50), allocated(250), allocated(450)
			t.Logf("%d, %d and %d bytes", few, some, more)
			if first, second := some-few, more-some; second > first*13/10 {
				t.Errorf("the first 200 environments took %d bytes, the next 200 took %d", first, second)
			}
		})
	}
}

func environmentsOf(v snapshot.Version, first, n int) (all []snapshot.Environment) {
	for i := first; i < first+n; i++ {
		e := v.Environments[0]
		e.ID, e.Name = fmt.Sprintf("env_%d", i), fmt.Sprintf("env%d", i)
		e.Headers = []snapshot.UpstreamHeader{{Name: "X-Secret"}}
		all = append(all, e)
	}
	return all
}
