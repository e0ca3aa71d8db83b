package floors

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func TestCheck_repository(t *testing.T) {
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

// TestPermissions_used fails for an import that a folder may make and does not: the
// list shows what depends on what.
func TestPermissions_used(t *testing.T) {
	tree, err := Load(root, "postern")
	if err != nil {
		t.Fatal(err)
	}
	imported := map[string][]string{} // by the path of the folder
	for _, file := range tree.Files {
		from, _ := folderOf(path.Dir(file.Path))
		if file.Test {
			continue
		}
		for _, i := range file.Imports {
			if target, ours := strings.CutPrefix(i.Path, tree.Module+"/"); ours {
				imported[from.path] = append(imported[from.path], target)
			}
		}
	}
	for _, f := range folders {
		for _, permitted := range slices.Concat(f.peers, f.only) {
			used := slices.ContainsFunc(imported[f.path], func(target string) bool { return within(target, permitted) })
			if !used {
				t.Errorf("%s may import %s, but does not", f.path, permitted)
			}
		}
	}
}

// folderLine matches a line of the list of floors that begins with a folder, or
// with several of one parent as in "parent/{a,b}".
var folderLine = regexp.MustCompile(`(?m)^([a-z0-9]+)/(?:([a-z0-9/]+)/|\{([a-z0-9,]+)\})?`)

func TestArchitecture_folders(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var described, want []string
	for _, match := range folderLine.FindAllStringSubmatch(string(text), -1) {
		switch parent, one, several := match[1], match[2], match[3]; {
		case several != "":
			for name := range strings.SplitSeq(several, ",") {
				described = append(described, parent+"/"+name)
			}
		case one != "":
			described = append(described, parent+"/"+one)
		default:
			described = append(described, parent)
		}
	}
	for _, f := range folders {
		want = append(want, f.path)
	}
	slices.Sort(described)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(described)); diff != "" {
		t.Errorf("folders of tools/floors (-) and of ARCHITECTURE.md (+):\n%s", diff)
	}
}

// namedFile matches a file in a text, and the names that stand behind it.
var namedFile = regexp.MustCompile("`([a-z0-9_/]+\\.[a-z]+)`((?:(?::|,)\\s+`\\w+`)*)")

func TestArchitecture_exists(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := namedFile.FindAllStringSubmatch(string(text), -1)
	if len(found) < 30 {
		t.Fatalf("%d files are named, want 30", len(found))
	}
	for _, match := range found {
		code, err := os.ReadFile(filepath.Join(root, match[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range regexp.MustCompile(`\w+`).FindAllString(match[2], -1) {
			if !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |const |\t)` + name + `\b`).Match(code) {
				t.Errorf("%s has no %s", match[1], name)
			}
		}
	}
}

// importing is a tree of one file that imports paths.
func importing(name string, paths ...string) Tree {
	f := File{Path: name, HasDoc: true}
	for i, p := range paths {
		f.Imports = append(f.Imports, Import{p, i + 3})
	}
	return oneFile(f)
}

func oneFile(f File) Tree { return Tree{Module: "m", Files: []File{f}} }

// treeCase is a tree with part of the only message about it, "" for none.
type treeCase struct {
	tree Tree
	want string
}

// importCases import across folders.
var importCases = map[string]treeCase{
	"down two floors": {importing("handlers/keys.go", "m/service/keys", "m/platform/fault", "net/http"), ""},
	"up": {
		importing("models/key.go", "m/service/keys"),
		"models/key.go:3: models imports service/keys: imports only go down",
	},
	"peer, named":     {importing("service/exports/build.go", "m/service/keys"), ""},
	"peer, not named": {importing("service/keys/key.go", "m/service/projects"), "both are on one floor"},
	"a part of a folder with its own rule": {
		importing("gateway/bearer/a.go", "m/platform/metrics"),
		"gateway/bearer sees only core, platform/egress, platform/exactjson, platform/syncmap",
	},
	"within its folder": {importing("bundle/kong/kong.go", "m/bundle", "m/core/policy"), ""},
	"a similar name":    {importing("handlers/a.go", "m/service/keysx"), "it is on no floor"},
	"gateway sees a rule": {
		importing("gateway/table.go", "m/models"),
		"gateway sees only gateway/engine, gateway/h2, gateway/h2upstream, gateway/admission, gateway/balance, " +
			"core/diagnosis, core/openapi, core/policy, core/snapshot, platform/egress, platform/turns",
	},
	"a view sees a rule": {
		importing("views/projects/page.templ.go", "m/service/projects"),
		"views sees only views/ui, static, core/contract",
	},
	"a target sees a row":         {importing("bundle/kong/a.go", "m/models"), "bundle sees only"},
	"product uses the test parts": {importing("app/app.go", "m/testkit"), "for tests alone"},
	"tests use anything": {oneFile(File{
		Path:    "gateway/a_test.go",
		Test:    true,
		HasDoc:  true,
		Imports: []Import{{"m/app", 3}},
	}), ""},
}

// libraryCases import libraries that belong in few folders.
var libraryCases = map[string]treeCase{
	"a library in a part of its folder": {importing("service/login/providers/a.go", "golang.org/x/oauth2"), ""},
	"Gin below the edges": {
		importing("service/keys/key.go", "github.com/gin-gonic/gin"),
		"belongs in handlers",
	},
	"huma in views": {
		importing("views/ui/a.go", "github.com/danielgtaylor/huma/v2"),
		"belongs in handlers",
	},
	"River in a rule": {
		importing("service/exports/a.go", "github.com/riverqueue/river"),
		"belongs in jobs, app, migrations",
	},
	"GORM in a rule": {importing("service/keys/a.go", "gorm.io/gorm"), "belongs in models"},
	"SQL in a rule":  {importing("service/keys/a.go", "database/sql"), "belongs in models"},
	"gateway reaches SQL": {
		Tree{Module: "m", Reach: map[string][]string{"gateway": {"m/platform/egress", "database/sql/driver"}}},
		"gateway: reaches database/sql/driver, directly or through others",
	},
	"handlers reach SQL": {Tree{Module: "m", Reach: map[string][]string{"handlers": {"database/sql"}}}, ""},
}

// fileCases are about the name, the length and the contents of a file.
var fileCases = map[string]treeCase{
	"unknown folder": {importing("stuff/a.go"), `"stuff" is on no floor`},
	"at the root":    {importing("a.go"), `"." is on no floor`},
	"vague package":  {importing("service/keys/util/a.go"), `the name "util" does not say`},
	"vague file":     {importing("service/keys/helpers_test.go"), `the name "helpers_test" does not say`},
	"too long": {
		oneFile(File{Path: "service/keys/a.go", HasDoc: true, Lines: 500}),
		"500 lines; a file stays under 500",
	},
	"long enough":         {oneFile(File{Path: "service/keys/a.go", HasDoc: true, Lines: 399}), ""},
	"long, but generated": {oneFile(File{Path: "views/a_templ.go", Lines: 900, Generated: true}), ""},
	"too wide": {
		oneFile(File{Path: "service/keys/a.go", HasDoc: true, Wide: []int{9}}),
		"service/keys/a.go:9: wider than 120 columns",
	},
	"wide, but generated": {oneFile(File{Path: "views/a_templ.go", Wide: []int{9}, Generated: true}), ""},
	"a long page":         {oneFile(File{Path: "views/a.templ", Lines: 500}), "500 lines"},
	"no package comment": {
		oneFile(File{Path: "service/keys/a.go"}),
		"service/keys: no file of this package has a comment",
	},
	"init": {
		oneFile(File{Path: "service/keys/a.go", HasDoc: true, Inits: []int{9}}),
		"service/keys/a.go:9: no init",
	},
	"skip": {
		oneFile(File{Path: "service/keys/a.go", HasDoc: true, Skips: []int{9}}),
		"service/keys/a.go:9: no test is skipped",
	},
	"sleep": {
		oneFile(File{Path: "service/keys/a_test.go", HasDoc: true, Test: true, Sleeps: []int{9}}),
		"service/keys/a_test.go:9: a test waits for a condition",
	},
	"sleep of fake time": {
		oneFile(File{
			Path:    "service/keys/a_test.go",
			HasDoc:  true,
			Test:    true,
			Imports: []Import{{"testing/synctest", 3}},
			Sleeps:  []int{9},
		}),
		"",
	},
	"sleep of the product": {oneFile(File{Path: "service/keys/a.go", HasDoc: true, Sleeps: []int{9}}), ""},
	"test name": {
		oneFile(File{Path: "service/keys/a_test.go", HasDoc: true, Test: true, Misnamed: []int{9}}),
		"service/keys/a_test.go:9: a test is named TestSymbol",
	},
	"random order": {
		oneFile(File{Path: "service/keys/a_test.go", HasDoc: true, Test: true, Shuffled: []int{9}}),
		"service/keys/a_test.go:9: cases that do something run in the same order",
	},
	"random order of the product": {oneFile(File{Path: "service/keys/a.go", HasDoc: true, Shuffled: []int{9}}), ""},
	"append to a shared slice": {
		Tree{Module: "m", Files: []File{
			{Path: "service/keys/a.go", HasDoc: true, Vars: []string{"all"}},
			{Path: "service/keys/b.go", Appends: []Append{{"all", 9}}},
		}},
		"service/keys/b.go:9: append may write into all",
	},
	"append to another package's name": {
		Tree{Module: "m", Files: []File{
			{Path: "service/keys/a.go", HasDoc: true, Vars: []string{"all"}},
			{Path: "service/usage/b.go", HasDoc: true, Appends: []Append{{"all", 9}}},
		}},
		"",
	},
	"put off": {
		oneFile(File{Path: "service/keys/a.go", HasDoc: true, Later: []int{9}}),
		"service/keys/a.go:9: work is done",
	},
}

func TestCheck_imports(t *testing.T)   { checkTrees(t, importCases) }
func TestCheck_libraries(t *testing.T) { checkTrees(t, libraryCases) }
func TestCheck_files(t *testing.T)     { checkTrees(t, fileCases) }

func checkTrees(t *testing.T, cases map[string]treeCase) {
	t.Helper()
	for name, tt := range cases {
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

func TestCheck_copies(t *testing.T) {
	defer func(all map[string]string) { repeated = all }(repeated)
	repeated = map[string]string{"bundle.keyDoc": "a reason", "bundle.gone": "a reason"}
	key := []Struct{
		{Name: "Key", Members: []string{"id", "owner", "state"}, Embeds: []string{"Times"}},
		{Name: "Times", Members: []string{"created_at", "updated_at"}},
	}
	all := []string{"id", "owner", "state", "created_at", "updated_at", "more"}
	file := func(path string, structs ...Struct) File { return File{Path: path, HasDoc: true, Structs: structs} }
	got := Check(Tree{Module: "postern", Files: []File{
		file("core/contract/key.go", key...),
		file("client/key.go", Struct{Name: "Key", Line: 3, Members: all}, Struct{Name: "Few", Members: all[:4]}),
		file("bundle/key.go", Struct{Name: "keyDoc", Members: all}),
		file("models/key.go", Struct{Name: "APIKey", Members: all}),
		file("testkit/key.go", Struct{Name: "Key", Members: all}),
	}})
	want := []string{
		"client/key.go:3: Key repeats contract.Key: use that, or give the reason in tools/floors",
		"tools/floors/floors.go: bundle.gone no longer repeats a type of the contract: take it off the list",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRead_facts(t *testing.T) {
	const source = `// Package a is documented.
package a

import "net/http"
import "time"

// TODO: later.
func init() { time.Sleep(1) }

func b(t interface{ Skip(...any) }) { t.Skip("no browser"); _ = http.StatusOK }

func c() {
	for range map[string]int{} {
	}
	for range map[string]func(){} {
	}
}

var all []int

func d(own []int) { _, _, _ = append(all, 1), append(own, 1), append(elsewhere, 1) }

func TestA()         {}
func TestA_bNotC1()  {}
func TestA_Fails()   {}
func TestA_b_c()     {}
func (T) TestA_B_c() {}
`
	got, err := read("service/keys/a_test.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := File{
		Path: "service/keys/a_test.go", Lines: 27, Test: true, HasDoc: true,
		Imports: []Import{{"net/http", 4}, {"time", 5}},
		Inits:   []int{8}, Skips: []int{10}, Sleeps: []int{8}, Later: []int{7}, Misnamed: []int{25, 26},
		Shuffled: []int{15},
		Vars:     []string{"all"}, Appends: []Append{{"all", 21}, {"elsewhere", 21}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	lines := []string{
		"package a",
		"\t// " + strings.Repeat("é", 113), // 120 columns
		"\t// " + strings.Repeat("é", 114),
		"type b struct {",
		"\tC int `doc:\"" + strings.Repeat("x", 120) + "\"`",
		"}",
	}
	wide, err := read("service/keys/a.go", []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{3}, wide.Wide); diff != "" {
		t.Errorf("wide lines: %s", diff)
	}
	generated, err := read("views/a_templ.go", []byte("// Code generated by templ - DO NOT EDIT.\n\npackage a\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !generated.Generated {
		t.Error("a generated file is not seen as such")
	}
}
