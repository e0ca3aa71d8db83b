package projects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postern/core/openapi/validate"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// OpenAPISettings are what the gateway does with the OpenAPI document of a version.
type OpenAPISettings struct {
	Validation  snapshot.Validation
	Publication snapshot.Publication

	Unchecked []validate.Unchecked // what of the document requests are not checked against
	ETag      string
}

func viewOpenAPISettings(v models.Version) OpenAPISettings {
	out := OpenAPISettings{
		Validation:  snapshot.Validation(v.OpenAPISettings.Validation),
		Publication: snapshot.Publication(v.OpenAPISettings.Publication),
	}
	out.ETag = digest(out.Validation, out.Publication)
	return out
}

// OpenAPISettingsRow returns the row of the settings of a version.
func OpenAPISettingsRow(v *snapshot.Version) models.OpenAPISettings {
	return models.OpenAPISettings{Validation: string(v.Validation), Publication: string(v.Publication)}
}

// OpenAPISettings returns what the gateway does with the OpenAPI document of a version.
func (s *Service) OpenAPISettings(
	ctx context.Context, p access.Principal, ref, versionRef string,
) (out OpenAPISettings, err error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return out, fmt.Errorf("projects: OpenAPI settings of %s: %w", ref, err)
	}
	version, err := versionOf(tx, project, versionRef)
	if err == nil {
		out = viewOpenAPISettings(version)
		out.Unchecked, _, err = unchecked(tx, version.ID)
	}
	if err != nil {
		return out, fmt.Errorf("projects: OpenAPI settings of version %s of %s: %w", versionRef, ref, err)
	}
	return out, nil
}

// unchecked returns what of the document of a version requests are not checked against, and whether there is one.
func unchecked(tx *models.Tx, version string) (found []validate.Unchecked, there bool, err error) {
	row, err := tx.OpenAPISummaryOf(version)
	if errors.Is(err, models.ErrNotFound) {
		return nil, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(row.Unchecked), &found)
	}
	return found, true, err
}

// SetOpenAPISettings changes what the gateway does with the OpenAPI document of a version, from the next
// call on. With ifMatch not empty it is refused as stale unless that is still the ETag.
func (s *Service) SetOpenAPISettings(
	ctx context.Context, p access.Principal, ref, versionRef, ifMatch string, in OpenAPISettings,
) (OpenAPISettings, error) {
	var out OpenAPISettings
	says := &note{change: "set"}
	err := s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, versionRef)
		if err != nil {
			return err
		}
		says.object = "OpenAPI settings of version " + version.Name
		if err := access.Unchanged(ifMatch, viewOpenAPISettings(version).ETag); err != nil {
			return err
		}
		without, there, err := unchecked(tx, version.ID)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(CheckOpenAPISettings("", in.Validation, in.Publication, there)); err != nil {
			return err
		}
		seen := version.UpdatedAt
		version.OpenAPISettings = models.OpenAPISettings{
			Validation:  string(in.Validation),
			Publication: string(in.Publication),
		}
		version.UpdatedAt = now
		out = viewOpenAPISettings(version)
		out.Unchecked = without
		return written(tx.UpdateVersionOpenAPI(version, seen))
	})
	return out, err
}

// CheckOpenAPISettings returns what is wrong with settings, below a pointer, of a version with or without
// a document.
func CheckOpenAPISettings(
	prefix string, validation snapshot.Validation, publication snapshot.Publication, hasDocument bool,
) (wrong []fault.Field) {
	refuse := func(member, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: prefix + member, Code: code, Detail: detail})
	}
	switch validation {
	case snapshot.ValidationOff:
	case snapshot.ValidationReport, snapshot.ValidationEnforce:
		if !hasDocument {
			refuse("/validation", "no_openapi_document", "The version has no OpenAPI document to validate requests "+
				"against. Import one first.")
		}
	default:
		refuse("/validation", "invalid_validation", "Use off, report or enforce.")
	}
	switch publication {
	case snapshot.PublicationOff, snapshot.PublicationCallers, snapshot.PublicationPublic:
	default:
		refuse("/publication", "invalid_publication", "Use off, callers or public.")
	}
	return wrong
}

// stopValidating turns the validation of a version off, which has no document any more.
func stopValidating(tx *models.Tx, version models.Version, now time.Time) error {
	if version.OpenAPISettings.Validation == "" {
		return nil
	}
	seen := version.UpdatedAt
	version.OpenAPISettings.Validation, version.UpdatedAt = "", now
	return written(tx.UpdateVersionOpenAPI(version, seen))
}
