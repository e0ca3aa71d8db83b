package movein

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/kongfile"
	"postern/core/policy"
)

// Options are the choices for a plan.
type Options struct {
	Name           string   // of the product and the tenant; "" for contract.DefaultImportName
	Open           []string // names, IDs or pointers of routes and consumers to open without the parts that can't move
	Hosts          []string // host names of routes without one
	Trust          []string // hosts of targets whose certificates are taken; see Plan.Take
	AllowWeak      bool     // also keys that can be guessed
	Theirs         bool     // a repeated import overwrites changes that were made here since
	RetryOnTimeout bool     // calls are sent again after a timeout, as Kong does
	Now            time.Time

	CanServe func(host string) bool // whether it can be a custom domain; nil: all valid host names can
}

// OptionError is the error of an option that doesn't fit the files.
type OptionError struct {
	Option string // its member of contract.ImportPlanChange
	Value  string // the element of its list
	Code   string
	Detail string // sentences with the fix
}

// Error names the flag of the option.
func (e *OptionError) Error() string {
	return fmt.Sprintf("--%s %s: %s", strings.TrimSuffix(e.Option, "s"), quoted(e.Value), e.Detail)
}

// normal returns the options with host names in their normal form, none twice.
func (o Options) normal() (Options, error) {
	if o.CanServe == nil {
		o.CanServe = func(host string) bool {
			_, err := policy.NormalHost(host)
			return err == nil
		}
	}
	var hosts []string
	for _, raw := range o.Hosts {
		host, err := policy.NormalHost(raw)
		if wrong, ok := errors.AsType[*policy.HostError](err); ok {
			return o, &OptionError{"hosts", raw, wrong.Code, wrong.Detail}
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	o.Hosts = hosts
	return o, nil
}

// isOpened reports whether an option opens an entity.
func (p *planner) isOpened(e *kongfile.Entity) bool {
	return p.options.matchOpen(p.opened, e.Value.Get("name").Text, e.Value.Get("username").Text,
		e.Value.Get("custom_id").Text, e.ID(), e.Pointer)
}

// matchOpen reports whether an entity with one of these names is to be opened, and marks the option as used.
func (o Options) matchOpen(used map[string]bool, names ...string) bool {
	for _, name := range o.Open {
		if name != "" && slices.Contains(names, name) {
			used[name] = true
			return true
		}
	}
	return false
}

// check returns an error if an option names something that isn't in the files. opened has the names that opened
// something, and hosts the hosts of the https targets.
func (o Options) check(opened map[string]bool, hosts []string) error {
	for _, name := range o.Open {
		if !opened[name] {
			return &OptionError{"open", name, "unknown", "The files don't contain a closed route, operation or " +
				"consumer with this name, ID or pointer."}
		}
	}
	for _, name := range o.Trust {
		if !slices.ContainsFunc(hosts, func(host string) bool { return strings.EqualFold(host, name) }) {
			return &OptionError{"trust", name, "unknown", "The files don't contain an https target with this host. " +
				"The files have https targets with these hosts: " + namesOf(hosts) + "."}
		}
	}
	return nil
}

// mostNamed is how many hosts an error names.
const mostNamed = 20

func namesOf(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > mostNamed:
		return strings.Join(names[:mostNamed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
