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

// Check returns a line for each broken rule, "file:line: rule", sorted.
func Check(tree Tree) []string {
	c := checker{tree: tree, documented: map[string]bool{}}
	for _, file := range tree.Files {
		c.file(file)
	}
	for dir, documented := range c.documented {
		if !documented {
			c.add(dir, 0, "no file of this package has a comment on its package clause that says what it owns and does not own")
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
	if f.Lines >= maxLines {
		c.add(f.Path, 0, "%d lines; a file stays under %d", f.Lines, maxLines)
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
	for _, line := range f.Later {
		c.add(f.Path, line, "work is done or is an issue, not a note in the source")
	}
	c.imports(f, dir)
}

func (c *checker) imports(f File, dir string) {
	from, known := roomOf(dir)
	if !known {
		c.add(f.Path, 0, "%q is on no floor; give it a room in tools/floors and in ARCHITECTURE.md", dir)
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
			if within(imported.Path, l.path) && !slices.Contains(l.rooms, from.name) {
				c.add(f.Path, imported.Line, "%s imports %s, which belongs in %s", dir, imported.Path, oneOf(l.rooms))
			}
		}
	}
}

// mayNot says why a package of a room must not import one of ours, "" when it may.
func mayNot(from room, target string) string {
	to, known := roomOf(target)
	switch {
	case !known:
		return "it is on no floor"
	case to.floor == testOnly:
		return "that is for tests alone"
	case from.only != nil:
		if !slices.ContainsFunc(from.only, func(allowed string) bool { return within(target, allowed) }) {
			return fmt.Sprintf("%s sees only %s", from.name, oneOf(from.only))
		}
	case from.name == to.name, to.floor < from.floor, slices.Contains(from.beside, to.name):
	case to.floor == from.floor:
		return fmt.Sprintf("both are on one floor; %s may look beside it at %s", from.name, oneOf(from.beside))
	default:
		return "imports only go down"
	}
	return ""
}

func (c *checker) reach(dir string, deps []string) {
	from, _ := roomOf(dir)
	for _, forbidden := range unreachable[from.name] {
		for _, dep := range deps {
			if within(dep, forbidden) {
				c.add(dir, 0, "reaches %s, directly or through others; %s must not", dep, from.name)
				break
			}
		}
	}
}

func roomOf(dir string) (room, bool) {
	for _, r := range rooms {
		if within(dir, r.name) {
			return r, true
		}
	}
	return room{}, false
}

// within tells whether a slash-separated path is root or lies below it.
func within(name, root string) bool {
	return name == root || strings.HasPrefix(name, root+"/")
}

func oneOf(names []string) string {
	if len(names) == 0 {
		return "nothing of the product"
	}
	return strings.Join(names, ", ")
}
