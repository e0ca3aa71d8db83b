package bundle

import (
	"fmt"

	"postern/core/contract"
	"postern/core/snapshot"
)

// TransformsFile has the changes to each version's requests and responses.
const TransformsFile = "transforms.json"

type transformsDoc struct {
	Versions []versionTransformsDoc `json:"versions"`
}

type versionTransformsDoc struct {
	ID   string `json:"id"`
	Name string `json:"name"`

	contract.Transforms
}

// transforms returns the file with the transforms; none if no version has any.
func (b *Build) transforms() []Part {
	doc := transformsDoc{}
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		if v.Transforms.None() {
			continue
		}
		doc.Versions = append(doc.Versions, versionTransformsDoc{v.ID, v.Name, v.Transforms.Stated()})
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
				p.Versions[j].Transforms = snapshot.TransformsOf(one.Transforms)
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
	add := func(direction string, none bool) {
		if none {
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
	t := &v.Transforms
	add(TransformRequest, t.Request.None() && t.Query.None() && t.RequestBody.None())
	add(TransformResponse, t.Response.None() && t.ResponseBody.None())
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
