package bundle

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

func TestCell_formulas(t *testing.T) {
	for value, want := range map[string]string{
		"plain": `"plain"`, "": `""`, `a "b", c`: `"a ""b"", c"`, "two\nlines": "\"two\nlines\"",
		"=1+1": `"'=1+1"`, "+1": `"'+1"`, "-1": `"'-1"`, "@SUM(A1)": `"'@SUM(A1)"`, "  =1": `"'  =1"`,
		"\t=1": "\"'\t=1\"", "\rx": "\"'\rx\"", "＝1": `"'＝1"`, "a=1": `"a=1"`, `="a"`: `"'=""a"""`,
	} {
		if got := cell(value); got != want {
			t.Errorf("cell(%q) = %s, want %s", value, got, want)
		}
		read, err := csv.NewReader(strings.NewReader(cell(value) + ",x\r\n")).Read()
		if err != nil || len(read) != 2 {
			t.Errorf("cell(%q) reads as %q, %v", value, read, err)
		}
	}
}

func TestDeriveKey_distinct(t *testing.T) {
	seen := map[string]bool{}
	counts := map[rune]int{}
	for _, id := range []string{"key_1", "key_2", "key_3"} {
		for _, env := range []string{"", "prod"} {
			k := derived(t, "seed", env, id+env)
			if !policy.WellFormedKey(k) || seen[k] {
				t.Errorf("%s: malformed, or there before", k)
			}
			seen[k] = true
			for _, r := range k {
				counts[r]++
			}
		}
	}
	first, again := derived(t, "seed", "", "key_1"), derived(t, "seed", "", "key_1")
	if first != again {
		t.Error("one export would mint two keys for one")
	}
	if first == derived(t, "other", "", "key_1") {
		t.Error("two exports would mint the same key")
	}
	if len(counts) < 40 {
		t.Errorf("only %d different characters in six keys", len(counts))
	}
}

func derived(t *testing.T, seed, environment, label string) string {
	t.Helper()
	key, err := deriveKey([]byte(seed), "pst", environment, label)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Smoke tests of exports that customers keep present this key.
func TestUnknownKey_stable(t *testing.T) {
	b := &Build{Project: &snapshot.Project{ID: "prj_1"}}
	for environment, want := range map[string]string{
		"":     "pst_all_mpN71ITsEon5zqRnwN8pTJGvjnXmW3Zw4HDuqE",
		"prod": "pst_prod_mpN71ITsEon5zqRnwN8pTJGvjnXmW3Zw3U1Uen",
	} {
		if got := b.UnknownKey(environment); got != want || !policy.WellFormedKey(got) {
			t.Errorf("UnknownKey(%q) = %s, want %s", environment, got, want)
		}
	}
}

func TestOpenAPI_valid(t *testing.T) {
	b := &Build{Project: sample.Project("http://up.example"), AddressOf: sample.AddressOf}
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		text, err := json.Marshal(b.openAPIFor(v))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		if err := doc.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		if got := len(doc.Servers); got != len(v.Environments) {
			t.Errorf("%s: %d servers, want one for each of %d environments", v.Name, got, len(v.Environments))
		}
		asks := doc.Paths.Find("/{path}").Get.Security
		if (asks != nil) != v.Access.Allows(snapshot.APIKey) {
			t.Errorf("%s: security %v", v.Name, asks)
		}
		if asks != nil {
			optional := slices.ContainsFunc(*asks, func(r openapi3.SecurityRequirement) bool { return len(r) == 0 })
			if want := v.Name != "1.0.0"; optional != want {
				t.Errorf("%s: key optional: %t, want %t", v.Name, optional, want)
			}
		}
	}
}

func TestOpenAPI_fileNames(t *testing.T) {
	b := &Build{Project: &snapshot.Project{Versions: []snapshot.Version{
		{
			ID:   "ver_a",
			Name: "V1",
		}, {
			ID:   "ver_b",
			Name: "v1",
		}, {ID: "ver_c", Name: "nul"}, {ID: "ver_d", Name: "com1.x"}, {ID: "ver_e", Name: "v2"},
	}}}
	var got []string
	for i := range b.Project.Versions {
		got = append(got, b.openAPIFile(&b.Project.Versions[i]))
	}
	want := []string{
		"openapi/ver_a.json",
		"openapi/ver_b.json",
		"openapi/ver_c.json",
		"openapi/ver_d.json",
		"openapi/v2.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestZipTime_range(t *testing.T) {
	epoch := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	berlin := time.FixedZone("", 2*3600)
	for in, want := range map[time.Time]time.Time{
		{}: epoch, sample.Past: sample.Past, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC): epoch,
		time.Date(2026, 3, 4, 5, 6, 7, 8, berlin): time.Date(2026, 3, 4, 3, 6, 6, 0, time.UTC),
	} {
		if got := zipTime(in); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("zipTime(%s) = %s, want %s", in, got, want)
		}
	}
}
