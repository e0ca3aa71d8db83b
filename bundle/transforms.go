package bundle

import (
	"fmt"

	"postern/core/snapshot"
)

// TransformsFile has the changes to the headers of each version's requests and responses.
const TransformsFile = "transforms.json"

type transformsDoc struct {
	Versions []versionTransformsDoc `json:"versions"`
}

type versionTransformsDoc struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Request  changesDoc `json:"request"`
	Response changesDoc `json:"response"`
}

// changesDoc has the operations of one direction.
type changesDoc struct {
	Remove  headersDoc `json:"remove"`
	Rename  headersDoc `json:"rename"`
	Replace headersDoc `json:"replace"`
	Add     headersDoc `json:"add"`
	Append  headersDoc `json:"append"`
}

type headersDoc struct {
	Headers []string `json:"headers"`
}

func changesDocOf(c *snapshot.HeaderChanges) changesDoc {
	return changesDoc{
		Remove:  headersDoc{list(c.Remove)},
		Rename:  headersDoc{list(c.Rename)},
		Replace: headersDoc{list(c.Replace)},
		Add:     headersDoc{list(c.Add)},
		Append:  headersDoc{list(c.Append)},
	}
}

func (d *changesDoc) changes() snapshot.HeaderChanges {
	return snapshot.HeaderChanges{
		Remove:  some(d.Remove.Headers),
		Rename:  some(d.Rename.Headers),
		Replace: some(d.Replace.Headers),
		Add:     some(d.Add.Headers),
		Append:  some(d.Append.Headers),
	}
}

// some returns nil for an empty list.
func some(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// transforms returns the file with the transforms; none if no version has any.
func (b *Build) transforms() []Part {
	doc := transformsDoc{}
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		if v.Transforms.None() {
			continue
		}
		doc.Versions = append(doc.Versions, versionTransformsDoc{
			ID:       v.ID,
			Name:     v.Name,
			Request:  changesDocOf(&v.Transforms.Request),
			Response: changesDocOf(&v.Transforms.Response),
		})
	}
	if len(doc.Versions) == 0 {
		return nil
	}
	return []Part{document(TransformsFile, transformsFileDoc, doc)}
}

// readTransforms reads the transforms of the project's versions.
func (v *verifier) readTransforms(p *snapshot.Project) error {
	if _, have := v.files[TransformsFile]; !have {
		return nil
	}
	doc, err := decodeWhole[transformsDoc](v, TransformsFile)
	if err != nil {
		return err
	}
	for i := range doc.Versions {
		one, found := &doc.Versions[i], false
		for j := range p.Versions {
			if p.Versions[j].ID == one.ID {
				p.Versions[j].Transforms = snapshot.Transforms{Request: one.Request.changes(), Response: one.Response.changes()}
				found = true
			}
		}
		if !found {
			return problem(TransformsFile, "%s has no version %s", configFile, one.ID)
		}
	}
	return nil
}

// The directions of transforms, as places of subjects.
const (
	TransformRequest  = "/request"
	TransformResponse = "/response"
)

// transformSubjects lists the directions in which a version has transforms.
func (b *Build) transformSubjects(v *snapshot.Version) []Subject {
	at := 0
	for i := range b.Project.Versions {
		if b.Project.Versions[i].ID == v.ID {
			break
		}
		if !b.Project.Versions[i].Transforms.None() {
			at++
		}
	}
	var out []Subject
	add := func(direction string, changes *snapshot.HeaderChanges) {
		if changes.None() {
			return
		}
		out = append(out, Subject{
			Feature: snapshot.FeatureTransform,
			ID:      v.ID + ":" + direction[1:],
			Name:    v.Name + " " + direction[1:],
			Source:  At(TransformsFile, "%s", fmt.Sprintf("/versions/%d%s", at, direction)),
			Version: v,
			Place:   direction,
		})
	}
	add(TransformRequest, &v.Transforms.Request)
	add(TransformResponse, &v.Transforms.Response)
	return out
}

// transformItems returns the ids of the items that the transforms require.
func (v *verifier) transformItems(p *snapshot.Project) ([]string, error) {
	if err := v.readTransforms(p); err != nil {
		return nil, err
	}
	b := &Build{Project: p}
	var ids []string
	for i := range p.Versions {
		for _, s := range b.transformSubjects(&p.Versions[i]) {
			ids = append(ids, s.ItemID())
		}
	}
	return ids, nil
}
