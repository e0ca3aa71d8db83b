package movein

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"postern/core/contract"
)

const (
	maxName    = 40
	maxVersion = 32
	maxGroup   = 63
)

// taken are the names that are taken, with the number that the next one of each name tries first. Without it, many
// equal names would take quadratic time.
type taken map[string]int

// unique returns a name that isn't taken: the first, or one with a number.
func (t taken) unique(name string, most int) string {
	name = name[:min(len(name), most)]
	out := name
	n := max(2, t[name])
	for ; t[out] > 0; n++ {
		suffix := fmt.Sprintf("-%d", n)
		out = strings.TrimRight(name[:min(len(name), most-len(suffix))], "-") + suffix
	}
	t[name] = n
	t[out] = max(2, t[out])
	return out
}

// projectName returns the name of a project for a name in the file: as contract.Slug, or "service" if no letter is
// left.
func (p *planner) projectName(name string) string {
	slug := contract.Slug(name)
	if !contract.IsName(slug) {
		slug = "service"
	}
	return p.requested.unique(slug, maxName)
}

// maxDisplayName is the most characters of the display name of a project.
const maxDisplayName = 80

// displayName returns the display name of a project for a name in the file.
func displayName(name string) string {
	runes := []rune(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) {
			return ' '
		}
		return c
	}, name))
	return strings.TrimSpace(string(runes[:min(len(runes), maxDisplayName)]))
}

var notInVersions = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// versionName returns the name of a version for the name of a route.
func versionName(versions taken, name string) string {
	name = strings.TrimLeft(notInVersions.ReplaceAllString(name, "-"), "._-")
	if name == "" {
		name = "version"
	}
	return versions.unique(name, maxVersion)
}

// maxOwner is longer than any name of an owner with a number: too long ones are refused, not cut.
const maxOwner = 1 << 20

// userPrefix is how the IDs of users begin, which owners of keys can be too.
const userPrefix = "usr_"

// ownerName returns the name of an owner for the name of a consumer. Names of consumers aren't unique: one can have the
// username and another the custom_id. Owners of one name would have each other's groups.
func (p *planner) ownerName(name string) string {
	if strings.HasPrefix(name, userPrefix) {
		name = "consumer-" + name
	}
	return p.owners.unique(name, maxOwner)
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
