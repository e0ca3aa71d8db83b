package movein_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/movein"
	"postern/testkit/golden"
)

// awsFiles returns the imports of testdata/aws by their names: a directory has the files of one.
func awsFiles(t *testing.T) map[string][]movein.File {
	t.Helper()
	names, err := filepath.Glob("testdata/aws/*/*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	slices.Sort(names)
	out := map[string][]movein.File{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Base(filepath.Dir(name))
		out[dir] = append(out[dir], movein.File{Name: filepath.Base(name), Text: text})
	}
	return out
}

func planAWS(t *testing.T, files []movein.File, o movein.Options) *movein.Plan {
	t.Helper()
	read, err := movein.Read(files)
	if err != nil {
		t.Fatal(err)
	}
	o.Now = now
	p, err := read.Plan(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAWS_golden(t *testing.T) {
	got := map[string]string{}
	for name, files := range awsFiles(t) {
		got[name] = planText(t, planAWS(t, files, movein.Options{Hosts: []string{"www.example.com"}}))
	}
	golden.CompareDir(t, "testdata/plans-aws", got)
}

// The sum of the items is the sum of the entities, each with a fate.
func TestAWS_completeness(t *testing.T) {
	for name, files := range awsFiles(t) {
		p := planAWS(t, files, movein.Options{})
		if p.Summary.Total() != int64(len(p.Items)) {
			t.Errorf("%s: a summary of %d for %d items", name, p.Summary.Total(), len(p.Items))
		}
		pointers := map[string]bool{}
		for _, item := range p.Items {
			if item.Note == "" || item.Status == "" || item.Name == "" || item.Line == 0 || item.Title == "" ||
				item.Note == "Postern doesn't have this kind of entity." || pointers[item.Pointer] {
				t.Errorf("%s: %+v", name, item)
			}
			pointers[item.Pointer] = true
		}
	}
}

// awsSecrets are values of the files that no plan has.
var awsSecrets = []string{
	"backend-secret-6ab2", "not-a-real-token", "Pk1rTq8v", "Zx9cVb7n", "Aa1Ss2Dd", "Qq1Ww2Ee",
}

func TestAWS_secrets(t *testing.T) {
	for name, files := range awsFiles(t) {
		read, err := movein.Read(files)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(planAWS(t, files, movein.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range awsSecrets {
			if strings.Contains(string(out), secret) {
				t.Errorf("the plan of %s has the secret %s", name, secret)
			}
		}
		kept, err := read.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var again movein.Files
		if err := again.UnmarshalBinary(kept); err != nil {
			t.Fatal(err)
		}
		p, err := again.Plan(nil, movein.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if same, err := json.Marshal(p); err != nil || string(same) != string(out) {
			t.Errorf("%s has another plan after it was stored: %v", name, err)
		}
	}
}

// A project has one set of CORS settings, and retries are Kong's: what an import leaves out is said.
func TestAWS_omissions(t *testing.T) {
	first := awsFiles(t)["http-api"][0]
	second := movein.File{Name: "beta.yaml", Text: []byte(strings.NewReplacer(`default: ""`, `default: "beta"`,
		"https://www.example.com", "https://beta.example.com").Replace(string(first.Text)))}
	p := planAWS(t, []movein.File{first, second}, movein.Options{RetryOnTimeout: true})
	for _, item := range p.Items {
		differs := strings.HasPrefix(item.Pointer, "beta.yaml#") && item.Kind == "api"
		if slices.Contains(item.Codes, "api.other_cors") != differs {
			t.Errorf("%s: %v", item.Pointer, item.Codes)
		}
	}
	if !slices.ContainsFunc(p.Notes, func(one contract.Warning) bool { return one.Code == "retry_on_timeout" }) {
		t.Errorf("notes %+v", p.Notes)
	}
	p = planAWS(t, []movein.File{first}, movein.Options{})
	if slices.ContainsFunc(p.Notes, func(one contract.Warning) bool { return one.Code == "retry_on_timeout" }) {
		t.Errorf("without the option, notes %+v", p.Notes)
	}
}
