package bundle

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/openapi/publish"
	"postern/core/snapshot"
)

// openAPI returns one document per version: the imported one, or a generated one if there is none. With only one
// version it is openapi.json.
func (b *Build) openAPI() []Part {
	var parts []Part
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		parts = append(parts, Part{
			Name: b.openAPIFile(v),
			Doc:  openAPIDoc,
			Write: func(_ context.Context, w io.Writer) error {
				if v.OpenAPI != nil {
					_, err := w.Write(v.OpenAPI)
					return err
				}
				return jsonfile.Write(w, b.openAPIFor(v))
			},
		})
	}
	return parts
}

// OpenAPIReason returns "" for a version with an imported document.
func OpenAPIReason(v *snapshot.Version) string {
	if v.OpenAPI == nil {
		return ReasonGenerated
	}
	return ""
}

// openAPIFile names the document after the version, or after its ID if the version's name differs from another only in
// case or isn't allowed as a file name.
func (b *Build) openAPIFile(v *snapshot.Version) string {
	if len(b.Project.Versions) == 1 {
		return "openapi.json"
	}
	name := "openapi/" + v.Name + ".json"
	alike := 0
	for _, other := range b.Project.Versions {
		if strings.EqualFold(other.Name, v.Name) {
			alike++
		}
	}
	if alike > 1 || checkName(name) != nil {
		return "openapi/" + v.ID + ".json"
	}
	return name
}

func (b *Build) openAPIFor(v *snapshot.Version) map[string]any {
	var servers []publish.Server
	for _, e := range v.Environments {
		servers = append(servers, publish.Server{URL: b.AddressOf(v.Name, e.Name), Description: e.Name})
	}
	return publish.Generated(b.Project, v, servers...)
}

// descriptionSubjects lists the uses of a version's document by the hosted gateway.
func descriptionSubjects(v *snapshot.Version, here string) (out []Subject) {
	if v.Validation != snapshot.ValidationOff {
		out = append(out, Subject{
			Feature: snapshot.FeatureValidation,
			ID:      v.ID,
			Name:    v.Name + " " + string(v.Validation),
			Source:  At(configFile, "%s/request_validation", here),
			Version: v,
		})
	}
	if v.Publication != snapshot.PublicationOff {
		out = append(out, Subject{
			Feature: snapshot.FeaturePublication,
			ID:      v.ID,
			Name:    v.Name + " " + string(v.Publication),
			Source:  At(configFile, "%s/openapi_publication", here),
			Version: v,
		})
	}
	return out
}

// readDocuments reads the documents that were imported.
func (v *verifier) readDocuments(p *snapshot.Project, config projectDoc) error {
	names := Build{Project: p}
	for i := range p.Versions {
		switch config.Versions[i].OpenAPI {
		case "":
			continue
		case openAPIImported:
		default:
			return problem(configFile, "/versions/%d/openapi is %q, not %s", i, config.Versions[i].OpenAPI,
				openAPIImported)
		}
		name := names.openAPIFile(&p.Versions[i])
		text, err := v.read(name)
		if err != nil {
			return err
		}
		if !json.Valid(text) {
			return problem(name, "it isn't JSON")
		}
		p.Versions[i].OpenAPI = text
	}
	return nil
}
