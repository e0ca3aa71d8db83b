package floors

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func TestThisRepositoryKeepsItsRules(t *testing.T) {
	tree, err := Load(root, "postern")
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) == 0 || len(tree.Reach) == 0 {
		t.Fatalf("%d files and %d packages were found, so nothing was checked", len(tree.Files), len(tree.Reach))
	}
	for _, broken := range Check(tree) {
		t.Error(broken)
	}
}

// The rooms of the tests' own floor are described in one line together.
var roomLine = regexp.MustCompile(`(?m)^([a-z0-9]+)/`)

func TestArchitectureNamesTheRooms(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var described, want []string
	for _, match := range roomLine.FindAllStringSubmatch(string(text), -1) {
		described = append(described, match[1])
	}
	for _, r := range rooms {
		want = append(want, r.name)
	}
	slices.Sort(described)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(described)); diff != "" {
		t.Errorf("rooms of tools/floors (-) and of ARCHITECTURE.md (+):\n%s", diff)
	}
}

func TestCheckFindsEachBrokenRule(t *testing.T) {
	importing := func(name string, paths ...string) Tree {
		f := File{Path: name, HasDoc: true}
		for i, p := range paths {
			f.Imports = append(f.Imports, Import{p, i + 3})
		}
		return Tree{Module: "m", Files: []File{f}}
	}
	one := func(f File) Tree { return Tree{Module: "m", Files: []File{f}} }

	tests := map[string]struct {
		tree Tree
		want string // part of the only message; "" for none
	}{
		"down two floors": {importing("handlers/keys.go", "m/keys", "m/fault", "net/http"), ""},
		"up": {
			importing("models/key.go", "m/keys"),
			"models/key.go:3: models imports keys: imports only go down",
		},
		"beside, named":     {importing("exports/build.go", "m/keys"), ""},
		"beside, not named": {importing("keys/key.go", "m/projects"), "both are on one floor"},
		"within its room":   {importing("bundle/kong/kong.go", "m/bundle", "m/policy"), ""},
		"a similar name":    {importing("handlers/a.go", "m/keysx"), "it is on no floor"},
		"gateway sees a rule": {
			importing("gateway/table.go", "m/models"),
			"gateway sees only gateway/engine, gateway/admission, snapshot, policy, egress, fault",
		},
		"a view sees a rule": {
			importing("views/projects/page.templ.go", "m/projects"),
			"views sees only views/ui, static",
		},
		"a target sees a row": {importing("bundle/kong/a.go", "m/models"), "bundle sees only"},
		"Gin below the edges": {importing("keys/key.go", "github.com/gin-gonic/gin"), "belongs in handlers"},
		"huma in views": {
			importing("views/ui/a.go", "github.com/danielgtaylor/huma/v2"),
			"belongs in handlers",
		},
		"River in a rule": {
			importing("exports/a.go", "github.com/riverqueue/river"),
			"belongs in jobs, app, migrations",
		},
		"GORM in a rule":              {importing("keys/a.go", "gorm.io/gorm"), "belongs in models"},
		"SQL in a rule":               {importing("keys/a.go", "database/sql"), "belongs in models"},
		"product uses the test parts": {importing("app/app.go", "m/testkit"), "for tests alone"},
		"tests use anything": {one(File{
			Path:    "gateway/a_test.go",
			Test:    true,
			HasDoc:  true,
			Imports: []Import{{"m/app", 3}},
		}), ""},
		"unknown room":  {importing("stuff/a.go"), `"stuff" is on no floor`},
		"at the root":   {importing("a.go"), `"." is on no floor`},
		"vague package": {importing("keys/util/a.go"), `the name "util" does not say`},
		"vague file":    {importing("keys/helpers_test.go"), `the name "helpers_test" does not say`},
		"too long": {one(File{
			Path:   "keys/a.go",
			HasDoc: true,
			Lines:  400,
		}), "400 lines; a file stays under 400"},
		"long enough":         {one(File{Path: "keys/a.go", HasDoc: true, Lines: 399}), ""},
		"long, but generated": {one(File{Path: "views/a_templ.go", Lines: 900, Generated: true}), ""},
		"a long page":         {one(File{Path: "views/a.templ", Lines: 500}), "500 lines"},
		"no package comment":  {one(File{Path: "keys/a.go"}), "keys: no file of this package has a comment"},
		"init":                {one(File{Path: "keys/a.go", HasDoc: true, Inits: []int{9}}), "keys/a.go:9: no init"},
		"skip": {one(File{
			Path:   "keys/a.go",
			HasDoc: true,
			Skips:  []int{9},
		}), "keys/a.go:9: no test is skipped"},
		"put off": {one(File{Path: "keys/a.go", HasDoc: true, Later: []int{9}}), "keys/a.go:9: work is done"},
		"gateway reaches SQL": {
			Tree{Module: "m", Reach: map[string][]string{"gateway": {"m/egress", "database/sql/driver"}}},
			"gateway: reaches database/sql/driver, directly or through others",
		},
		"handlers reach SQL": {Tree{Module: "m", Reach: map[string][]string{"handlers": {"database/sql"}}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			broken := Check(tt.tree)
			if tt.want == "" {
				if len(broken) != 0 {
					t.Errorf("nothing is wrong, but: %q", broken)
				}
				return
			}
			if len(broken) != 1 || !strings.Contains(broken[0], tt.want) {
				t.Errorf("got %q, want one with %q", broken, tt.want)
			}
		})
	}
}

func TestReadFindsWhatTheRulesAreAbout(t *testing.T) {
	const source = `// Package a is documented.
package a

import "net/http"

// TODO: later.
func init() {}

func b(t interface{ Skip(...any) }) { t.Skip("no browser"); _ = http.StatusOK }
`
	got, err := read("keys/a_test.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := File{
		Path: "keys/a_test.go", Lines: 9, Test: true, HasDoc: true,
		Imports: []Import{{"net/http", 4}}, Inits: []int{7}, Skips: []int{9}, Later: []int{6},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	generated, err := read("views/a_templ.go", []byte("// Code generated by templ - DO NOT EDIT.\n\npackage a\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !generated.Generated {
		t.Error("a generated file is not seen as such")
	}
}
