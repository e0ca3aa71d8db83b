package openapi_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packages resolves our packages from their files, and those of others as empty ones: the types of documents are plain.
type packages struct {
	files map[string][]*ast.File
	made  map[string]*types.Package
	fset  *token.FileSet
	info  types.Info
}

func (p *packages) Import(path string) (*types.Package, error) {
	if known := p.made[path]; known != nil {
		return known, nil
	}
	dir, ours := strings.CutPrefix(path, "postern/core/openapi")
	if !ours {
		p.made[path] = types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
		p.made[path].MarkComplete()
		return p.made[path], nil
	}
	names, err := filepath.Glob(filepath.Join(".", dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(p.fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.files[path] = append(p.files[path], file)
	}
	config := types.Config{Importer: p, Error: func(error) {}} // what others have is not known
	p.made[path], _ = config.Check(path, p.fset, p.files[path], &p.info)
	return p.made[path], nil
}

// ofDocument reports whether a value can be a part of a document that has many parts.
func (p *packages) ofDocument(value ast.Expr) bool {
	if call, isCall := value.(*ast.CallExpr); isCall {
		of, _ := call.Fun.(*ast.SelectorExpr)
		return of != nil && of.Sel.Name == "Keys" && fmt.Sprint(of.X) == "tree" ||
			of != nil && of.Sel.Name == "Keys" && len(call.Args) == 1 && p.ofDocument(call.Args[0])
	}
	of := p.info.TypeOf(value)
	return of != nil && slices.Contains([]string{"[]any", "map[string]any"}, types.Unalias(of).Underlying().String())
}

// loops returns the plain loops over documents in a file, by place, with whether its line says why; of a line that says
// why without such a loop nothing.
func (p *packages) loops(file *ast.File) (of map[string]bool, idle []string) {
	line := func(pos token.Pos) string {
		at := p.fset.Position(pos)
		return fmt.Sprintf("%s:%d", at.Filename, at.Line)
	}
	marked := map[string]bool{}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "// plain: ") {
				marked[line(comment.Pos())] = true
			}
		}
	}
	of = map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		var over ast.Expr
		switch node := node.(type) {
		case *ast.RangeStmt:
			over = node.X
		case *ast.CallExpr:
			called, _ := node.Fun.(*ast.SelectorExpr)
			loops := []string{"slices", "maps"}
			if called != nil && len(node.Args) > 0 && slices.Contains(loops, fmt.Sprint(called.X)) {
				over = node.Args[0]
			}
		}
		if over != nil && p.ofDocument(over) {
			of[line(node.Pos())] = marked[line(node.Pos())]
		}
		return true
	})
	for at := range marked {
		if _, needed := of[at]; !needed {
			idle = append(idle, at)
		}
	}
	return of, idle
}

// Documents are read by the loops of a Budget, which count: a plain one over a list or an object of a document would be
// work that nothing bounds. One that is fine says why behind "plain:" in its line.
func TestLoops(t *testing.T) {
	t.Parallel()
	p := &packages{
		files: map[string][]*ast.File{}, made: map[string]*types.Package{}, fset: token.NewFileSet(),
		info: types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{},
		},
	}
	if _, err := p.Import("postern/core/openapi/validate"); err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, path := range []string{"postern/core/openapi", "postern/core/openapi/validate"} {
		for _, file := range p.files[path] {
			loops, idle := p.loops(file)
			for at, saysWhy := range loops {
				if marked++; !saysWhy {
					t.Errorf("%s: use Each or Members of Budget, which count, or say why not behind \"// plain: \"", at)
				}
			}
			for _, at := range idle {
				t.Errorf("%s: nothing here needs \"// plain: \"", at)
			}
		}
	}
	if marked < 5 {
		t.Errorf("%d loops over documents: the test doesn't see them", marked)
	}
}
