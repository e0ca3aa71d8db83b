package bundle

import (
	"cmp"
	"fmt"

	"postern/core/snapshot"
)

// Status says how completely an item is exported.
type Status string

// The statuses of a ledger item.
const (
	Exact       Status = "exact"       // moves unchanged
	Approximate Status = "approximate" // behaves slightly differently; the note explains how
	Lossy       Status = "lossy"       // part of it is lost
	Skipped     Status = "skipped"     // not exported at all
)

// Fate describes how a feature is exported to a target in one case.
type Fate struct {
	Reason string // last part of the ledger code, snake_case
	Title  string // what the items are; "" for the title of the feature
	Status Status
	Note   string // one sentence that a customer understands
	Remedy string // what to do about it; "" when there is nothing to do
	How    string // how the target implements it, for the support matrix
	Always bool   // the item isn't configured: every project of its kind, or of its team, has it
}

// title returns the title of items of a feature with this fate.
func (f Fate) title(of snapshot.Feature) string { return cmp.Or(f.Title, of.Title()) }

// Table declares the fate of every feature on a target. The first fate of a feature is
// the usual one; Target.Judge selects the others. All fates of FeatureRequestLimits
// apply at once.
type Table map[snapshot.Feature][]Fate

// Target is something an export can be written for.
type Target struct {
	Name   string // first part of every ledger code
	Title  string // for the support matrix
	Format Format
	Table  Table
	// NewKeys tells the customer what to do with minted keys. It is Markdown, and ends NOTICE.md.
	NewKeys string
	// Start tells the customer what to do first. It is Markdown, a section of README.md.
	Start string
	// Judge returns the verdict on a subject. If it is nil, the first fate applies and there is no target.
	Judge func(b *Build, s Subject) Verdict
	// Parts returns the files that the target adds. If it is nil, there are none.
	Parts func(b *Build) ([]Part, error)
}

// Subject is one thing that the ledger reports on. Feature determines which pointers
// are set: a key has Key, a route has Version and Environment.
type Subject struct {
	Feature     snapshot.Feature
	ID          string // stable, unique within the feature
	Name        string // "" for the title of the fate
	Source      *Pointer
	Version     *snapshot.Version
	Environment *snapshot.Environment
	Form        AddressForm // of a route
	Domain      *snapshot.Domain
	Tenant      *snapshot.Tenant
	KeyType     *snapshot.KeyType
	Key         *snapshot.Key
	Client      *snapshot.AppClient
	Provider    *snapshot.Provider
	Rule        *snapshot.Rule
	Place       string // of a limit or an address rule: its JSON Pointer relative to its owner
}

// Verdict says how a subject was exported to a target.
type Verdict struct {
	Reason string // of one of the feature's fates; "" is the first
	Target *Pointer
	Probes []string // ids of recorded probes that demonstrate it
}

// Pointer is a place in a file of the zip: a JSON Pointer (RFC 6901). Lines of
// a .jsonl file count as elements of a list, from 0.
type Pointer struct {
	File    string `json:"file"`
	Pointer string `json:"pointer"`
}

// At returns a Pointer.
func At(file, format string, args ...any) *Pointer {
	return &Pointer{File: file, Pointer: fmt.Sprintf(format, args...)}
}

// AddressForm is one of the ways to address an environment.
type AddressForm string

// The forms, with their paths. In the host form, the host names the project.
const (
	HostForm AddressForm = "host_form" // /<version>/<environment>
	PathForm AddressForm = "path_form" // /<project>/<version>/<environment>
	NameForm AddressForm = "name_form" // a custom domain
)

// RoutePath returns the path prefix of an environment in a form.
func RoutePath(p *snapshot.Project, v *snapshot.Version, e *snapshot.Environment, form AddressForm) string {
	path := "/" + v.Name + "/" + e.Name
	if form == PathForm {
		path = "/" + p.Name + path
	}
	return path
}

// fate returns the fate with that reason; "" means the first. An undeclared reason is a bug of the target, and fails
// the export.
func (t Target) fate(f snapshot.Feature, reason string) (Fate, error) {
	fates := t.Table[f]
	if reason == "" && len(fates) > 0 {
		return fates[0], nil
	}
	for _, fate := range fates {
		if fate.Reason == reason {
			return fate, nil
		}
	}
	return Fate{}, fmt.Errorf("bundle: target %s declares no fate %q for %s", t.Name, reason, f)
}

// Check returns every hole in the target's table: a feature without a fate, a fate
// without its texts, a feature that does not exist.
func (t Target) Check() []string {
	var holes []string
	known := map[snapshot.Feature]bool{}
	for _, f := range snapshot.Features() {
		known[f] = true
		if len(t.Table[f]) == 0 {
			holes = append(holes, fmt.Sprintf("%s: %s has no fate", t.Name, f))
		}
		seen := map[string]bool{}
		for _, fate := range t.Table[f] {
			if fate.Reason == "" || fate.Status == "" || fate.Note == "" || fate.How == "" {
				holes = append(holes, fmt.Sprintf("%s: %s: fate %q is incomplete", t.Name, f, fate.Reason))
			}
			if seen[fate.Reason] {
				holes = append(holes, fmt.Sprintf("%s: %s: fate %q twice", t.Name, f, fate.Reason))
			}
			seen[fate.Reason] = true
		}
	}
	if t.NewKeys == "" {
		holes = append(holes, fmt.Sprintf("%s: it doesn't say what to do with new keys", t.Name))
	}
	if t.Start == "" {
		holes = append(holes, fmt.Sprintf("%s: it doesn't say what to do first", t.Name))
	}
	for f := range t.Table {
		if !known[f] {
			holes = append(holes, fmt.Sprintf("%s: %s is not a feature", t.Name, f))
		}
	}
	return holes
}
