package bundle

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"postern/core/contract"
)

const (
	readmeFile     = "README.md"
	reportTextFile = "MIGRATION-REPORT.md"
)

// readme returns README.md, which says what the zip contains, what to do first and how much moved. parts are all other
// parts, including the ledger, which is written first.
func (b *Build) readme(parts []Part) Part {
	return Part{Name: readmeFile, Doc: "Where to start, how much moved, and what this zip contains.\n",
		Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, b.readmeText(parts))
			return err
		}}
}

func (b *Build) readmeText(parts []Part) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Export of %s\n\nThis zip contains the %s project at revision %d, exported by %s.\nYou don't "+
		"need Postern to use it.\n\n## Start here\n\n%s\n## How much moved\n\n%s\n\n[%s](%s) explains each kind of "+
		"item, starting with items that require action.\n",
		b.Project.Name, b.Project.Name, b.Project.Revision, printable(b.Generator), b.target.Start,
		moved(b.digest.Summary, b.target.Format),
		reportTextFile, reportTextFile)
	if todo := b.digest.groups()[0].lines; len(todo) > 0 {
		out.WriteString("\nWhat you need to do:\n\n")
		for _, one := range advice(todo) {
			fmt.Fprintf(&out, "- %s: %s\n", strings.Join(one.titles, ", "), one.text)
		}
	}
	out.WriteString("\n## What's in this zip\n\n| Path | Content |\n|---|---|\n")
	for _, one := range b.places() {
		if slices.ContainsFunc(parts, func(p Part) bool { return one.has(p.Name) }) {
			fmt.Fprintf(&out, "| `%s` | %s |\n", one.path, one.content)
		}
	}
	fmt.Fprintf(&out, "| `%s` | a guide to every file and field in this zip |\n"+
		"| `%s` | the program that wrote this zip, the export options, the counts and the list of files |\n"+
		"| `%s` | the SHA-256 of each file: `sha256sum -c %[3]s` |\n", guideFile, manifestFile, sumsFile)
	if b.sign != nil {
		fmt.Fprintf(&out, "| `%s` | the installation's signature of %s |\n", signatureFile, sumsFile)
	}
	return out.String()
}

// moved is the headline of the ledger.
func moved(totals contract.LedgerTotals, format Format) string {
	headline := cmp.Or(totals.PortableText(string(format)), "Portable")
	return fmt.Sprintf("**%s**: %s.\nAnother %d items, such as login sessions and HTTP details, are the same for "+
		"every project. They don't count toward the percentage.", headline, totals.Headline(), totals.Everywhere())
}

// remedy is something to do about the items with these titles.
type remedy struct {
	titles []string
	text   string
}

// advice returns the remedies of lines, none twice.
func advice(lines []Line) []remedy {
	var out []remedy
	for _, l := range lines {
		at := slices.IndexFunc(out, func(r remedy) bool { return r.text == *l.Remedy })
		if at < 0 {
			at, out = len(out), append(out, remedy{text: *l.Remedy})
		}
		if !slices.Contains(out[at].titles, l.Title) {
			out[at].titles = append(out[at].titles, l.Title)
		}
	}
	return out
}

// location is a path of the zip with its content for README.md.
type location struct {
	path    string
	has     func(file string) bool
	content string
}

// places lists the paths that a zip can have, except those that every zip has.
func (b *Build) places() []location {
	named := func(path, content string) location {
		return location{path, func(file string) bool { return file == path }, content}
	}
	below := func(path, content string) location {
		return location{path, func(file string) bool { return strings.HasPrefix(file, path) }, content}
	}
	ofTenants := func(folder, content string) location {
		return location{"tenants/<name>/" + folder, func(file string) bool {
			return strings.HasPrefix(file, "tenants/") && strings.Contains(file, "/"+folder)
		}, content}
	}
	return []location{
		named(reportFile, "the ledger: how each item was exported, as JSON"),
		named(reportTextFile, "a readable summary of the ledger"),
		named(configFile, "the configuration: versions, environments, upstreams, access, limits, key types and "+
			"tenants"),
		named("openapi.json", "the OpenAPI document"),
		below("openapi/", "the OpenAPI document of each version"),
		named(TransformsFile, "changes to requests and responses"),
		below("authz/", "route rules and object owners, also as files for OpenFGA"),
		below("auth/", "hosted login as a Keycloak realm"),
		ofTenants("auth/", "app clients, identity providers, token issuers, and callback URLs to register"),
		ofTenants("users/", "users and groups, also as SCIM resources with a script that pushes them"),
		ofTenants("keys/", "API keys: metadata and SHA-256 hashes"),
		named(secretsFile, "**secrets in plaintext**: delete this file once the secrets are in place"),
		named(sealedFile, "secrets, encrypted to the recipient of the export"),
		below("gateway/", "a gateway that serves this project"),
		below("verify/", "recorded requests, and a script that sends them to a gateway and compares the responses"),
	}
}

// reportText returns MIGRATION-REPORT.md, the ledger for people. The ledger is written before it.
func (b *Build) reportText() Part {
	return Part{Name: reportTextFile,
		Doc: "A readable summary of the ledger. Items with the same code share one entry, and items that require " +
			"action come first.\n`" + reportFile + "` contains every item.\n",
		Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, b.digest.text(b))
			return err
		}}
}

// group is a part of a digest.
type group struct {
	title, text string
	lines       []Line
}

// groups divides the lines: what is left to do, the others that the team configured by status, and what is the
// same for every project.
func (d *Digest) groups() []group {
	statuses := []Status{Skipped, Lossy, Approximate, Exact}
	out := []group{
		{title: "To do", text: "Each entry describes what you need to do."},
		{title: "Not moved", text: "These items aren't exported. You don't need to do anything."},
		{title: "Partially moved"},
		{title: "Moved with differences"},
		{title: "Moved unchanged", text: "Nothing is lost or different."},
		{title: "The same for every project", text: "Every project has these items."},
	}
	for i, status := range statuses {
		for _, line := range d.Lines {
			if line.Status != string(status) {
				continue
			}
			into := &out[i+1]
			switch {
			case !line.Configured:
				into = &out[5]
			case line.Remedy != nil:
				into = &out[0]
			}
			into.lines = append(into.lines, line)
		}
	}
	return out
}

// reportNames is the maximum number of items that an entry of MIGRATION-REPORT.md names.
const reportNames = 20

// text returns MIGRATION-REPORT.md.
func (d *Digest) text(b *Build) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Migration report\n\nProject: %s, revision %d. Export target: %s.\n\n%s\n\n",
		b.Project.Name, b.Project.Revision, b.target.Title, moved(d.Summary, b.target.Format))
	out.WriteString("| Status | You configured | Every project |\n|---|---|---|\n")
	own, all := d.Summary.Configured, d.Summary.LedgerCounts
	for _, row := range []struct {
		status     Status
		means      string
		own, total int64
	}{
		{Exact, "moves unchanged", own.Exact, all.Exact},
		{Approximate, "behaves slightly differently; the note explains how", own.Approximate, all.Approximate},
		{Lossy, "part of it is lost", own.Lossy, all.Lossy},
		{Skipped, "not exported", own.Skipped, all.Skipped},
	} {
		fmt.Fprintf(&out, "| %s: %s | %d | %d |\n", row.status, row.means, row.own, row.total-row.own)
	}
	fmt.Fprintf(&out, "\n[%s](%s) lists every item and where it is in this zip.\n", reportFile, reportFile)
	for _, g := range d.groups() {
		if len(g.lines) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n## %s\n", g.title)
		if g.text != "" {
			fmt.Fprintf(&out, "\n%s\n", g.text)
		}
		for i := range g.lines {
			out.WriteString(g.lines[i].text())
		}
	}
	return out.String()
}

// text returns the line's entry of MIGRATION-REPORT.md.
func (l *Line) text() string {
	var out strings.Builder
	many := "1 item"
	if l.Count != 1 {
		many = fmt.Sprintf("%d items", l.Count)
	}
	fmt.Fprintf(&out, "\n### %s\n\n%s, %s, `%s`\n\n%s\n", l.Title, many, l.Status, l.Code, l.Note)
	if l.Remedy != nil {
		fmt.Fprintf(&out, "\n**To do:** %s\n", *l.Remedy)
	}
	if slices.Equal(l.Names, []string{l.Title}) {
		return out.String()
	}
	var names []string
	for _, name := range l.Names[:min(len(l.Names), reportNames)] {
		names = append(names, codeSpan(name))
	}
	if more := l.Count - int64(len(names)); more > 0 && len(names) > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if len(names) > 0 {
		fmt.Fprintf(&out, "\n%s\n", strings.Join(names, ", "))
	}
	return out.String()
}

// codeSpan returns text as a code span of Markdown (CommonMark 0.31, section 6.1), in which nothing is interpreted.
func codeSpan(text string) string {
	text = cmp.Or(printable(text), " ")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.Contains(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// tableCode returns text as a code span in a cell of a table (GitHub Flavored Markdown, section 4.10).
func tableCode(text string) string { return strings.ReplaceAll(codeSpan(text), "|", `\|`) }
