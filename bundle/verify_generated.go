package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"postern/core/snapshot"
)

// generated generates every file from the documents again and compares the bytes, which
// finds a file that was changed together with its sum. It includes project-config.json
// and the key rows, so that every JSON parser reads them as this program does. New keys
// are random; mintedCheck compares them with their rows. It returns the build.
func (l *ledgerCheck) generated(config projectDoc, target Target) (*Build, error) {
	b, err := l.v.rebuild(l.report.Manifest, config, target, l.deleted)
	if err != nil {
		return nil, err
	}
	defer b.close()
	parts, err := b.parts()
	if err != nil {
		return nil, problem(configFile, "%s", err)
	}
	again := &archive{}
	for name, f := range l.v.files {
		if name != manifestFile && name != sumsFile && name != signatureFile {
			again.files = append(again.files, file{Name: name, Size: int64(f.UncompressedSize64)})
		}
	}
	if _, signed := l.v.files[signatureFile]; signed {
		b.sign = func([]byte) ([]byte, error) { return nil, nil } // for its section in SCHEMA.md
	}
	b.digest = l.digest
	all := slices.Concat(parts, b.seals(again, parts))
	if name, added := l.v.unexpected(all); added {
		return nil, problem(name, "it isn't part of the export: it was added later")
	}
	for _, part := range all {
		switch {
		case part.Random, part.Name == sumsFile, part.Name == signatureFile: // checked already
		case part.Name == reportFile && !b.HasKeys(): // it contains key items, and the key rows were left out
		default:
			if err := l.v.same(part); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// unexpected returns the first entry that is not one of the parts, and whether there is one.
func (v *verifier) unexpected(parts []Part) (string, bool) {
	ours := namesOf(parts)
	for _, name := range v.names() {
		if !ours[name] {
			return name, true
		}
	}
	return "", false
}

func namesOf(parts []Part) map[string]bool {
	names := map[string]bool{}
	for _, p := range parts {
		names[p.Name] = true
	}
	return names
}

// same checks that an entry is what its part writes.
func (v *verifier) same(part Part) error {
	r, err := v.open(part.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	have := &comparison{have: bufio.NewReader(r)}
	if err := part.Write(v.ctx, have); err != nil && !errors.Is(err, errDiffers) {
		return fmt.Errorf("verify %s: %w", part.Name, err)
	}
	if _, err := have.have.ReadByte(); have.differs || !errors.Is(err, io.EOF) {
		return problem(part.Name, "it differs from the file that Postern writes for this project: it was changed "+
			"after the export")
	}
	return nil
}

// comparison is a writer that compares its input with have.
type comparison struct {
	have    *bufio.Reader
	buffer  []byte
	differs bool
}

func (c *comparison) Write(p []byte) (int, error) {
	if cap(c.buffer) < len(p) {
		c.buffer = make([]byte, len(p))
	}
	got := c.buffer[:len(p)]
	if _, err := io.ReadFull(c.have, got); err != nil || string(got) != string(p) {
		c.differs = true
		return 0, errDiffers
	}
	return len(p), nil
}

// declared checks that the title, status, note and remedy of an item are those of a fate in the target's table, word
// for word.
func declared(target Target, item Item) error {
	for _, fate := range target.Table[snapshot.Feature(item.Kind)] {
		if item.Code != target.Name+"."+item.Kind+"."+fate.Reason {
			continue
		}
		title := fate.title(snapshot.Feature(item.Kind))
		if item.Title != title || item.Status != fate.Status || item.Configured == fate.Always ||
			item.Note != fate.Note || valueOf(item.Remedy) != fate.Remedy {
			return problem(reportFile, "item %s doesn't have the texts of the code %s", item.ID, item.Code)
		}
		return nil
	}
	return problem(reportFile, "item %s has a code that isn't defined for the target %s: %s",
		item.ID, target.Name, item.Code)
}
