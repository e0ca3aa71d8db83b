package floors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Tree is what the rules are about.
type Tree struct {
	Module string
	Files  []File
	// Reach has, for each of our packages by its directory, the import paths
	// of everything it is built from, directly or not.
	Reach map[string][]string
}

// File is one source file, in Go or another language that we write.
type File struct {
	Path      string // from the root of the module, with slashes
	Lines     int
	Wide      []int // lines that are wider than maxColumns
	Generated bool

	// The rest is of Go files only.
	Test     bool // _test.go
	HasDoc   bool // its package clause has a comment
	Imports  []Import
	Inits    []int    // lines of init functions
	Skips    []int    // lines where a test skips itself
	Sleeps   []int    // lines that call time.Sleep
	Misnamed []int    // lines of test functions with a name that testName does not match
	Shuffled []int    // lines that range over a map of functions, in a random order
	Later    []int    // lines of comments that put work off
	Vars     []string // the package's variables
	Appends  []Append
	Structs  []Struct
}

// Append is a call of append whose slice no function has declared.
type Append struct {
	To   string
	Line int
}

// Import is one import of a file.
type Import struct {
	Path string
	Line int
}

// languages are those whose files are measured.
var languages = []string{".go", ".templ", ".lua", ".js", ".mjs", ".sh", ".md"}

// Load reads the module in dir. Its error is that of a file that cannot be read
// or parsed, or of the go command.
func Load(dir, module string) (Tree, error) {
	tree := Tree{Module: module}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// Test data is not built; vendored scripts and what is installed are not ours.
			others := []string{".git", "bin", "data", "node_modules", "testdata", "vendor", "venv"}
			if slices.Contains(others, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(languages, path.Ext(name)) {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := read(filepath.ToSlash(rel), content)
		tree.Files = append(tree.Files, file)
		return err
	})
	if err != nil {
		return Tree{}, fmt.Errorf("read the sources: %w", err)
	}
	tree.Reach, err = reach(dir, module)
	return tree, err
}

func read(name string, content []byte) (File, error) {
	file := File{Path: name, Lines: bytes.Count(content, []byte("\n")), Wide: wideLines(name, content)}
	if path.Ext(name) != ".go" {
		return file, nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, content, parser.ParseComments)
	if err != nil {
		return file, err
	}
	line := func(pos token.Pos) int { return fset.Position(pos).Line }
	file.Generated = ast.IsGenerated(parsed)
	file.Test = strings.HasSuffix(name, "_test.go")
	file.HasDoc = parsed.Doc != nil
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file, err
		}
		file.Imports = append(file.Imports, Import{imported, line(spec.Pos())})
	}
	for _, comment := range parsed.Comments {
		if later.MatchString(comment.Text()) {
			file.Later = append(file.Later, line(comment.Pos()))
		}
	}
	file.Vars = variables(parsed)
	file.Structs = structs(parsed, func(node ast.Node) int { return line(node.Pos()) })
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Field:
			if node.Tag != nil {
				file.Wide = slices.DeleteFunc(file.Wide, func(wide int) bool { return wide == line(node.Tag.Pos()) })
			}
		case *ast.FuncDecl:
			if node.Recv == nil && node.Name.Name == "init" {
				file.Inits = append(file.Inits, line(node.Pos()))
			}
			if name := node.Name.Name; file.Test && node.Recv == nil && strings.HasPrefix(name, "Test") &&
				!testName.MatchString(name) {
				file.Misnamed = append(file.Misnamed, line(node.Pos()))
			}
		case *ast.RangeStmt:
			if mapOfFunctions(node.X) {
				file.Shuffled = append(file.Shuffled, line(node.Pos()))
			}
		case *ast.CallExpr:
			if skips(node) {
				file.Skips = append(file.Skips, line(node.Pos()))
			}
			if sleeps(node) {
				file.Sleeps = append(file.Sleeps, line(node.Pos()))
			}
			if to := appendsTo(node, parsed); to != "" {
				file.Appends = append(file.Appends, Append{to, line(node.Pos())})
			}
		}
		return true
	})
	return file, nil
}

// unbroken matches lines that nothing can break: of a page one attribute of constant
// text, or the path of an icon; of a document the row of a table, or one address.
var unbroken = regexp.MustCompile(`^(\s*[\w-]+="[^"]*"|\s*<path [^>]*></path>|\|.*|\s*\S+)\n?$`)

// wideLines returns the numbers of the lines that are wider than maxColumns.
func wideLines(name string, content []byte) []int {
	var wide []int
	number, fenced := 0, false
	for line := range bytes.Lines(content) {
		number++
		if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("```")) {
			fenced = !fenced && path.Ext(name) == ".md" // a command, or what one prints
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		columns := utf8.RuneCount(line) + bytes.Count(line, []byte("\t"))*(tabColumns-1)
		if columns > maxColumns && !fenced && !unbroken.Match(line) {
			wide = append(wide, number)
		}
	}
	return wide
}

// skips reports whether a call is one of testing.TB's skipping methods, going by
// the names that receivers have everywhere.
func skips(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name) {
		return false
	}
	receiver, ok := method.X.(*ast.Ident)
	return ok && slices.Contains([]string{"t", "b", "f", "tb"}, receiver.Name)
}

// mapOfFunctions reports whether an expression is the literal of a map whose values are
// functions.
func mapOfFunctions(x ast.Expr) bool {
	literal, ok := x.(*ast.CompositeLit)
	if !ok {
		return false
	}
	of, ok := literal.Type.(*ast.MapType)
	if !ok {
		return false
	}
	_, ok = of.Value.(*ast.FuncType)
	return ok
}

// sleeps reports whether a call is one of time.Sleep.
func sleeps(call *ast.CallExpr) bool {
	called, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || called.Sel.Name != "Sleep" {
		return false
	}
	from, ok := called.X.(*ast.Ident)
	return ok && from.Name == "time"
}

// variables returns the names of a file's variables outside functions.
func variables(file *ast.File) []string {
	var names []string
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.VAR {
			continue
		}
		for _, spec := range general.Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// appendsTo returns the name of what a call appends to, if it isn't declared in a function.
func appendsTo(call *ast.CallExpr, file *ast.File) string {
	function, ok := call.Fun.(*ast.Ident)
	if !ok || function.Name != "append" || len(call.Args) == 0 {
		return ""
	}
	to, ok := call.Args[0].(*ast.Ident)
	if !ok || to.Obj != nil && file.Scope.Lookup(to.Name) != to.Obj {
		return ""
	}
	return to.Name
}

// reach asks the go command, which knows build constraints.
func reach(dir, module string) (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Deps", "./...")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	found := map[string][]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			ImportPath string
			Deps       []string
		}
		if err := decoder.Decode(&pkg); err == io.EOF {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		found[strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, module), "/")] = pkg.Deps
	}
}
