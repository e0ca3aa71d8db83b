package floors

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// later finds words that put work off.
var later = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// testName matches the names of tests.
var testName = regexp.MustCompile(`^Test[A-Z][A-Za-z0-9]*(_[a-z][A-Za-z0-9]*)?$`)

// Check returns a line for each broken rule, "file:line: rule", sorted.
func Check(tree Tree) []string {
	c := checker{tree: tree, documented: map[string]bool{}}
	for _, file := range tree.Files {
		c.file(file)
	}
	c.copies()
	c.appends()
	for dir, documented := range c.documented {
		if !documented {
			c.add(dir, 0, "no file of this package has a comment on its package clause that says what it owns and "+
				"does not own")
		}
	}
	for dir, deps := range tree.Reach {
		c.reach(dir, deps)
	}
	slices.Sort(c.broken)
	return slices.Compact(c.broken)
}

type checker struct {
	tree       Tree
	documented map[string]bool // by directory
	broken     []string
}

func (c *checker) add(file string, line int, rule string, args ...any) {
	where := file
	if line > 0 {
		where = fmt.Sprintf("%s:%d", file, line)
	}
	c.broken = append(c.broken, where+": "+fmt.Sprintf(rule, args...))
}

func (c *checker) file(f File) {
	if f.Generated {
		return
	}
	// A document is one page, and a script that an export ships one file.
	if f.Lines >= maxLines && !slices.Contains([]string{".md", ".sh"}, path.Ext(f.Path)) {
		c.add(f.Path, 0, "%d lines; a file stays under %d", f.Lines, maxLines)
	}
	for _, line := range f.Wide {
		c.add(f.Path, line, "wider than %d columns, with %d a tab", maxColumns, tabColumns)
	}
	for _, part := range strings.Split(strings.TrimSuffix(f.Path, path.Ext(f.Path)), "/") {
		if slices.Contains(vague, strings.TrimSuffix(part, "_test")) {
			c.add(f.Path, 0, "the name %q does not say what is in it", part)
		}
	}
	if path.Ext(f.Path) != ".go" {
		return
	}
	dir := path.Dir(f.Path)
	c.documented[dir] = c.documented[dir] || f.HasDoc
	for _, line := range f.Inits {
		c.add(f.Path, line, "no init functions: what a package does, its caller asks for")
	}
	for _, line := range f.Skips {
		c.add(f.Path, line, "no test is skipped: a missing part is installed, or fails")
	}
	for _, line := range sleepsInTests(f) {
		c.add(f.Path, line, "a test waits for a condition, with testkit.Eventually, or runs in testing/synctest")
	}
	for _, line := range f.Misnamed {
		c.add(f.Path, line, "a test is named TestSymbol or TestSymbol_case")
	}
	if f.Test {
		for _, line := range f.Shuffled {
			c.add(f.Path, line, "cases that do something run in the same order each time, with testkit.ByName")
		}
	}
	for _, line := range f.Later {
		c.add(f.Path, line, "work is done or is an issue, not a note in the source")
	}
	c.imports(f, dir)
}

// appends finds calls that append to a variable of the package: where its array has room, they all write to it, each
// over the others.
func (c *checker) appends() {
	variables := map[string]bool{} // "directory.name"
	for _, f := range c.tree.Files {
		for _, name := range f.Vars {
			variables[path.Dir(f.Path)+"."+name] = true
		}
	}
	for _, f := range c.tree.Files {
		for _, a := range f.Appends {
			if variables[path.Dir(f.Path)+"."+a.To] {
				c.add(f.Path, a.Line, "append may write into %s, which everyone shares: use slices.Concat", a.To)
			}
		}
	}
}

// sleepsInTests returns the lines on which a test waits for time to pass. With testing/synctest no time passes.
func sleepsInTests(f File) []int {
	if !f.Test || slices.ContainsFunc(f.Imports, func(i Import) bool { return i.Path == "testing/synctest" }) {
		return nil
	}
	return f.Sleeps
}

func (c *checker) imports(f File, dir string) {
	from, known := folderOf(dir)
	if !known {
		c.add(f.Path, 0, "%q is on no floor; add it to tools/floors and to ARCHITECTURE.md", dir)
		return
	}
	if f.Test || from.floor == testOnly {
		return
	}
	for _, imported := range f.Imports {
		target, ours := strings.CutPrefix(imported.Path, c.tree.Module+"/")
		if ours {
			if why := mayNot(from, target); why != "" {
				c.add(f.Path, imported.Line, "%s imports %s: %s", dir, target, why)
			}
			continue
		}
		for _, l := range libraries {
			if within(imported.Path, l.path) && !withinAny(dir, l.folders) {
				c.add(f.Path, imported.Line, "%s imports %s, which belongs in %s", dir, imported.Path, oneOf(l.folders))
			}
		}
	}
}

// mayNot returns why a package of the folder must not import target, a package of
// this module, and "" when it may.
func mayNot(from folder, target string) string {
	to, known := folderOf(target)
	switch {
	case !known:
		return "it is on no floor"
	case to.floor == testOnly:
		return "that is for tests alone"
	case from.only != nil:
		if !withinAny(target, from.only) {
			return fmt.Sprintf("%s sees only %s", from.path, oneOf(from.only))
		}
	case from.path == to.path, to.floor < from.floor, withinAny(target, from.peers):
	case to.floor == from.floor:
		return fmt.Sprintf("both are on one floor; %s may import %s there", from.path, oneOf(from.peers))
	default:
		return "imports only go down"
	}
	return ""
}

func (c *checker) reach(dir string, deps []string) {
	for root, unwanted := range unreachable {
		if !within(dir, root) {
			continue
		}
		for _, forbidden := range unwanted {
			if i := slices.IndexFunc(deps, func(dep string) bool { return within(dep, forbidden) }); i >= 0 {
				c.add(dir, 0, "reaches %s, directly or through others; %s must not", deps[i], root)
			}
		}
	}
}

// folderOf returns the folder with the longest path that dir is within.
func folderOf(dir string) (found folder, ok bool) {
	for _, f := range folders {
		if within(dir, f.path) && len(f.path) >= len(found.path) {
			found, ok = f, true
		}
	}
	return found, ok
}

// within reports whether a slash-separated path is root or lies below it.
func within(name, root string) bool {
	return name == root || strings.HasPrefix(name, root+"/")
}

func withinAny(name string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(name, root) })
}

func oneOf(names []string) string {
	if len(names) == 0 {
		return "nothing of the product"
	}
	return strings.Join(names, ", ")
}
