// Package targets lists everything that a project can be exported to, and generates the support matrix.
//
// It owns the list and the choice by format. It doesn't own any target: bundle.Data is the one without a gateway, and
// each other target has its own package.
package targets

import (
	"fmt"
	"strings"

	"postern/bundle"
	"postern/bundle/kong"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// All returns every target, in the order of the support matrix.
func All() []bundle.Target { return []bundle.Target{bundle.Data, kong.Target} }

// For returns the target of a format. It fails with kind Invalid.
func For(format bundle.Format) (bundle.Target, error) {
	for _, t := range All() {
		if t.Format == format {
			return t, nil
		}
	}
	return bundle.Target{}, fault.InvalidField("/format", "unknown_format", "format must be \"data\" or \"gateway\".")
}

const matrixHead = `# How each item is exported

This page is generated from the exporter's tables. The ` + "`MIGRATION-REPORT.json`" + ` in each zip describes items in
the same words. **exact**: the item moves unchanged, so a gateway responds to the same call in the same way.
**approximate**: it behaves slightly differently, and the note states the worst case. **lossy**: part of it is lost.
**skipped**: it isn't exported.
`

// Matrix returns the support matrix as Markdown: a table of features and targets,
// then every fate with its note.
func Matrix() string {
	var out strings.Builder
	out.WriteString(matrixHead)
	out.WriteString("\n| Feature |")
	for _, t := range All() {
		fmt.Fprintf(&out, " %s |", t.Title)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(All())) + "\n")
	for _, f := range snapshot.Features() {
		fmt.Fprintf(&out, "| `%s` |", f)
		for _, t := range All() {
			fmt.Fprintf(&out, " %s |", statuses(t.Table[f]))
		}
		out.WriteByte('\n')
	}
	for _, t := range All() {
		fmt.Fprintf(&out, "\n## %s\n\n| Code | Status | How | What it means | What to do "+
			"|\n|---|---|---|---|---|\n", t.Title)
		for _, f := range snapshot.Features() {
			for _, fate := range t.Table[f] {
				fmt.Fprintf(&out, "| `%s.%s.%s` | %s | %s | %s | %s |\n",
					t.Name, f, fate.Reason, fate.Status, fate.How, fate.Note, fate.Remedy)
			}
		}
	}
	return out.String()
}

// statuses lists the distinct statuses of a feature's fates, the usual one first.
func statuses(fates []bundle.Fate) string {
	var out []string
	seen := map[bundle.Status]bool{}
	for _, fate := range fates {
		if !seen[fate.Status] {
			out = append(out, string(fate.Status))
		}
		seen[fate.Status] = true
	}
	return strings.Join(out, ", ")
}
