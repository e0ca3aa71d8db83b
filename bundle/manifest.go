package bundle

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

const (
	manifestFile   = "MANIFEST.json"
	manifestFormat = "postern-bundle/" // and the edition
)

// Edition numbers the format of the zip. It is in the manifest so that a program can refuse an unknown format before it
// reads the rest.
const Edition = 1

// Manifest is MANIFEST.json, which describes the zip.
type Manifest struct {
	Format     string          `json:"format"`
	Generator  string          `json:"generator"`
	Project    ManifestProject `json:"project"`
	Revision   int64           `json:"revision"`
	ExportedAt string          `json:"exported_at"`
	Options    ManifestOptions `json:"options"`
	Counts     ManifestCounts  `json:"counts"`
	Files      []ManifestFile  `json:"files"`
}

// ManifestProject names the exported project.
type ManifestProject struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ManifestOptions are the customer's choices.
type ManifestOptions struct {
	Format    Format     `json:"format"`
	Keys      KeysOption `json:"keys"`
	Consumers bool       `json:"consumers"`
	Secrets   bool       `json:"secrets"`
	Recipient string     `json:"recipient,omitempty"`
}

// ManifestCounts are the numbers of objects in the zip.
type ManifestCounts struct {
	Versions     int                         `json:"versions"`
	Environments int                         `json:"environments"`
	KeyTypes     int                         `json:"key_types"`
	Tenants      int                         `json:"tenants"`
	Keys         int64                       `json:"keys"`
	KeysByState  map[snapshot.KeyState]int64 `json:"keys_by_state"`
	Users        int64                       `json:"users"`
	LedgerItems  int64                       `json:"ledger_items"`
}

// ManifestFile is a file and its size in bytes.
type ManifestFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

func (b *Build) manifest(a *archive) Part {
	return Part{Name: manifestFile, Doc: manifestDoc, Write: func(_ context.Context, w io.Writer) error {
		p := b.Project
		m := Manifest{
			Format:     manifestFormat + strconv.Itoa(Edition),
			Generator:  b.Generator,
			Project:    ManifestProject{p.ID, p.Name},
			Revision:   p.Revision,
			ExportedAt: b.ExportedAt(),
			Options:    ManifestOptions(b.Options),
			Counts: ManifestCounts{
				Versions:    len(p.Versions),
				KeyTypes:    len(p.KeyTypes),
				Tenants:     len(p.Tenants),
				Keys:        b.counts.total,
				KeysByState: b.counts.states,
				LedgerItems: b.digest.Summary.Total(),
			},
		}
		if m.Counts.KeysByState == nil {
			m.Counts.KeysByState = map[snapshot.KeyState]int64{}
		}
		for _, t := range p.Tenants {
			if b.HasPeople(t) {
				m.Counts.Users += t.Directory.Users
			}
		}
		for _, v := range p.Versions {
			m.Counts.Environments += len(v.Environments)
		}
		for _, f := range a.sorted() {
			m.Files = append(m.Files, ManifestFile{f.Name, f.Size})
		}
		return jsonfile.Write(w, m)
	}}
}

const guideFile = "SCHEMA.md"

const guideHead = `# What's in this zip

This zip contains the @PROJECT@ project at revision @REVISION@, written by @GENERATOR@. You don't need Postern to use
it: the files are JSON, CSV, Markdown and, if there is a gateway, the files it runs with. This page describes every
file in this zip.

Two exports of the same state are identical, byte for byte: names are sorted, times refer to the exported state
(@EXPORTED_AT@), and IDs never change.@MINT@
`

const guideMint = ` The new keys in this zip are random, so no other export is identical.`

// schemaPart returns SCHEMA.md, which describes exactly the given files and itself.
func schemaPart(b *Build, parts []Part) Part {
	self := Part{Name: guideFile, Doc: "This page.\n"}
	all := append(slices.Clone(parts), self)
	slices.SortFunc(all, func(x, y Part) int { return strings.Compare(x.Name, y.Name) })
	self.Write = func(_ context.Context, w io.Writer) error {
		var marks []string
		for name, value := range b.guideValues() {
			marks = append(marks, "@"+name+"@", value)
		}
		_, err := strings.NewReplacer(marks...).WriteString(w, guideHead)
		for _, part := range all {
			if err == nil && part.describedBy == "" {
				_, err = fmt.Fprintf(w, "\n## `%s`\n\n%s\n", part.Name, strings.TrimRight(part.Doc, "\n"))
			}
		}
		return err
	}
	return self
}

// guideValues returns the values of the marks in guideHead.
func (b *Build) guideValues() map[string]string {
	values := map[string]string{
		"PROJECT":     b.Project.Name,
		"REVISION":    strconv.FormatInt(b.Project.Revision, 10),
		"GENERATOR":   b.Generator,
		"EXPORTED_AT": b.ExportedAt(),
		"MINT":        "",
	}
	if b.mints() {
		values["MINT"] = guideMint
	}
	return values
}
