package movein

import (
	"fmt"
	"regexp"
	"strings"

	"postern/core/contract"
)

const (
	maxName    = 40
	maxVersion = 32
	maxGroup   = 63
)

// unique returns a name that isn't taken: the first, or one with a number.
func unique(taken map[string]bool, name string, most int) string {
	name = name[:min(len(name), most)]
	out := name
	for n := 2; taken[out]; n++ {
		suffix := fmt.Sprintf("-%d", n)
		out = strings.TrimRight(name[:min(len(name), most-len(suffix))], "-") + suffix
	}
	taken[out] = true
	return out
}

// projectName returns the name of a project for a name in the file: as contract.Slug, or "service" if no letter is
// left.
func (p *planner) projectName(name string) string {
	slug := contract.Slug(name)
	if !contract.IsName(slug) {
		slug = "service"
	}
	return unique(p.requested, slug, maxName)
}

var notInVersions = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// versionName returns the name of a version for the name of a route.
func versionName(taken map[string]bool, name string) string {
	name = strings.TrimLeft(notInVersions.ReplaceAllString(name, "-"), "._-")
	if name == "" {
		name = "version"
	}
	return unique(taken, name, maxVersion)
}

var notInGroups = regexp.MustCompile(`[^a-z0-9._-]+`)

// groupName returns the name of a group for a name in the file.
func groupName(name string) string {
	name = strings.TrimLeft(notInGroups.ReplaceAllString(strings.ToLower(name), "-"), "._-")
	if name == "" {
		name = "group"
	}
	return name
}
