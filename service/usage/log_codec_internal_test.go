package usage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someCounters(n int) tally {
	t := tally{}
	for i := range int64(n) {
		at := counter{
			hour:        500_000 + i%2,
			project:     "prj_1",
			environment: fmt.Sprint("env_", i%3),
			key:         fmt.Sprint("key_", i),
			route:       "/orders/{id}",
			class:       i % 6,
		}
		if i%2 == 0 {
			at.owner = fmt.Sprint("ünï ", i%5)
		}
		t[at] = &sums{calls: i + 1, in: i << 33, out: -i, last: 1_800_000_000 + i}
	}
	return t
}

func TestEncode(t *testing.T) {
	for _, n := range []int{0, 1, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			want := someCounters(n)
			payload, err := encode(want.list())
			if err != nil {
				t.Fatal(err)
			}
			got := tally{}
			if err := got.decode(payload); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(counter{}, sums{})); diff != "" {
				t.Error(diff)
			}
			for length := range len(payload) {
				if err := (tally{}).decode(payload[:length]); err == nil {
					t.Errorf("the first %d of %d bytes are accepted", length, len(payload))
				}
			}
		})
	}
}

func TestSplit(t *testing.T) {
	all := someCounters(directSums)
	if direct, logged := all.split(); len(direct) != directSums || len(logged) != 0 {
		t.Errorf("%d sums of one project: %d are logged", directSums, len(logged))
	}
	all[counter{project: "prj_0"}] = &sums{calls: 1}
	direct, logged := all.split()
	if len(direct) != 1 || len(logged) != directSums {
		t.Errorf("%d sums are direct and %d logged, want 1 and %d", len(direct), len(logged), directSums)
	}
}
