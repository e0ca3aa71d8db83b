package floors

import (
	"go/ast"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Struct is a struct type with JSON members.
type Struct struct {
	Name    string
	Line    int
	Members []string // by their names in JSON
	Embeds  []string // names of embedded types of the same package
}

// structs returns the named struct types of a file.
func structs(file *ast.File, line func(ast.Node) int) []Struct {
	var found []Struct
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if body, ok := spec.Type.(*ast.StructType); ok {
			s := Struct{Name: spec.Name.Name, Line: line(spec)}
			for _, field := range body.Fields.List {
				s.add(field)
			}
			found = append(found, s)
		}
		return true
	})
	return found
}

func (s *Struct) add(field *ast.Field) {
	name := ""
	if field.Tag != nil {
		if tag, err := strconv.Unquote(field.Tag.Value); err == nil {
			name, _, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		}
	}
	switch embedded, ok := field.Type.(*ast.Ident); {
	case name != "" && name != "-":
		s.Members = append(s.Members, name)
	case ok && len(field.Names) == 0:
		s.Embeds = append(s.Embeds, embedded.Name)
	}
}

const contractFolder = "core/contract"

// tooAlike is the number of members in common from which a struct is a copy of a type of the contract.
const tooAlike = 5

// copies finds structs that repeat a type of the contract.
func (c *checker) copies() {
	contract := map[string]Struct{}
	for _, file := range c.tree.Files {
		if path.Dir(file.Path) == contractFolder && !file.Test {
			for _, s := range file.Structs {
				contract[s.Name] = s
			}
		}
	}
	listed := maps.Clone(repeated)
	for _, file := range c.tree.Files {
		dir := path.Dir(file.Path)
		if folder, known := folderOf(dir); file.Test || file.Generated || !known || folder.floor == testOnly ||
			withinAny(dir, mayRepeat) {
			continue
		}
		for _, s := range file.Structs {
			original := mostSimilar(s, contract)
			if original == "" {
				continue
			}
			name := dir + "." + s.Name
			if _, ok := listed[name]; !ok {
				c.add(file.Path, s.Line, "%s repeats contract.%s: use that, or give the reason in tools/floors",
					s.Name, original)
			}
			delete(listed, name)
		}
	}
	if len(contract) == 0 {
		return // the tree of a test
	}
	for name := range listed {
		c.add("tools/floors/floors.go", 0, "%s no longer repeats a type of the contract: take it off the list", name)
	}
}

// mostSimilar returns the name of the contract's type that shares the most members with s, and "" if no type has
// tooAlike of them.
func mostSimilar(s Struct, contract map[string]Struct) string {
	best, most := "", tooAlike-1
	for _, name := range slices.Sorted(maps.Keys(contract)) {
		shared := 0
		for member := range membersOf(name, contract) {
			if slices.Contains(s.Members, member) {
				shared++
			}
		}
		if shared > most {
			best, most = name, shared
		}
	}
	return best
}

// membersOf returns the members of a type of the contract, with those of the types that it embeds.
func membersOf(name string, contract map[string]Struct) map[string]bool {
	members := map[string]bool{}
	for _, member := range contract[name].Members {
		members[member] = true
	}
	for _, embedded := range contract[name].Embeds {
		maps.Copy(members, membersOf(embedded, contract))
	}
	return members
}
