package config

import (
	"regexp"
	"slices"
	"strings"
)

// otherVariables are those of commands, of which no setting has the name.
var otherVariables = []string{
	"POSTERN_SERVER", "POSTERN_CONTEXT", "POSTERN_TOKEN", "POSTERN_CONFIG_DIR", "POSTERN_PAGER",
	"POSTERN_BACKUP_PASSPHRASE", "POSTERN_COPY_TO",
}

// serviceLinks are the variables that Kubernetes sets in each container for a Service with the name postern.
var serviceLinks = regexp.MustCompile(
	`^POSTERN(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP)(_(ADDR|PORT|PROTO))?)?)$`)

// Unknown returns the variables that begin with POSTERN_ and have no effect, sorted: misspelled ones, and those of
// other versions. They are not errors, because one environment can be for several programs and versions.
func Unknown(environ []string) []string {
	known := slices.Clone(otherVariables)
	for _, s := range settings() {
		known = append(known, s.variables()...)
	}
	var unknown []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "POSTERN_") && !slices.Contains(known, name) && !serviceLinks.MatchString(name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
