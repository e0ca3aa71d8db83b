package bundle

import (
	"fmt"

	"postern/core/snapshot"
)

// TransformsFile has the changes to each version's requests and responses.
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
	Query   []string `json:"query,omitempty"` // of requests
	Body    []string `json:"body,omitempty"`
	Types   []string `json:"body_types,omitempty"` // of responses
}

func changesDocOf(headers, query *snapshot.Changes, body *snapshot.BodyChanges) changesDoc {
	return changesDoc{
		Remove:  headersDoc{list(headers.Remove), query.Remove, body.Remove, nil},
		Rename:  headersDoc{list(headers.Rename), query.Rename, body.Rename, nil},
		Replace: headersDoc{list(headers.Replace), query.Replace, body.Replace, body.Types.Replace},
		Add:     headersDoc{list(headers.Add), query.Add, body.Add, body.Types.Add},
		Append:  headersDoc{list(headers.Append), query.Append, body.Append, body.Types.Append},
	}
}

// changes returns the lists of the operations that of takes.
func (d *changesDoc) changes(of func(headersDoc) []string) snapshot.Changes {
	return snapshot.Changes{
		Remove:  some(of(d.Remove)),
		Rename:  some(of(d.Rename)),
		Replace: some(of(d.Replace)),
		Add:     some(of(d.Add)),
		Append:  some(of(d.Append)),
	}
}

func (d *changesDoc) types() snapshot.ChangeTypes {
	return snapshot.ChangeTypes{
		Replace: some(d.Replace.Types),
		Add:     some(d.Add.Types),
		Append:  some(d.Append.Types),
	}
}

func headersOf(d headersDoc) []string { return d.Headers }

func queryOf(d headersDoc) []string { return d.Query }

func bodyOf(d headersDoc) []string { return d.Body }

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
			ID:   v.ID,
			Name: v.Name,
			Request: changesDocOf(&v.Transforms.Request, &v.Transforms.Query,
				&snapshot.BodyChanges{Changes: v.Transforms.RequestBody}),
			Response: changesDocOf(&v.Transforms.Response, &snapshot.Changes{}, &v.Transforms.ResponseBody),
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
				p.Versions[j].Transforms = snapshot.Transforms{
					Request:     one.Request.changes(headersOf),
					Query:       one.Request.changes(queryOf),
					RequestBody: one.Request.changes(bodyOf),
					Response:    one.Response.changes(headersOf),
					ResponseBody: snapshot.BodyChanges{
						Changes: one.Response.changes(bodyOf), Types: one.Response.types(),
					},
				}
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
