package relations

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"postern/core/policy"
)

// The set agrees with a map after any changes, also where places collide.
func TestSet_sameAsMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s, want := newSet(0), map[policy.RelationKey]bool{}
	for step := range 200_000 {
		var key policy.RelationKey
		key[0], key[15] = byte(random.IntN(8)), byte(1+random.IntN(200)) // eight places
		if random.IntN(2) == 0 {
			s.add(key)
			want[key] = true
		} else {
			s.remove(key)
			delete(want, key)
		}
		if s.used != len(want) {
			t.Fatalf("step %d: %d keys, want %d", step, s.used, len(want))
		}
		if step%1000 == 0 {
			for n := range 8 * 200 {
				key := policy.RelationKey{byte(n / 200), 15: byte(1 + n%200)}
				if s.has(key) != want[key] {
					t.Fatalf("step %d: %v is %v", step, key, s.has(key))
				}
			}
		}
	}
}

func TestPending_held(t *testing.T) {
	table, key := NewTable(), policy.KeyOf("tnt_1", "ana", policy.OwnerRelation, "order:1")
	if table.Holds("prj_1", key) {
		t.Error("held before")
	}
	table.expect("prj_1", key)
	table.expect("prj_1", key)
	table.release("prj_1", key)
	if !table.Holds("prj_1", key) || table.Holds("prj_2", key) {
		t.Error("not held while one is expected, or by another project")
	}
	table.release("prj_1", key)
	if table.Holds("prj_1", key) {
		t.Error("held afterward")
	}
}

// BenchmarkHolds checks one of 1,000,000 relations, and one that does not exist.
func BenchmarkHolds(b *testing.B) {
	const many = 1_000_000
	table := NewTable()
	held := newSet(many)
	for n := range many {
		held.add(policy.KeyOf("tnt_1", fmt.Sprintf("usr_%d", n%1000), policy.OwnerRelation, fmt.Sprintf("order:%d", n)))
	}
	table.projects["prj_1"] = held
	for name, project := range map[string]string{"known": "tnt_1", "unknown": "tnt_2"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for n := 7; p.Next(); n = (n + 1_000) % many {
					if table.Holds("prj_1", policy.KeyOf(project, "usr_7", policy.OwnerRelation,
						"order:7007")) != (project == "tnt_1") {
						b.Fail()
					}
				}
			})
		})
	}
}
