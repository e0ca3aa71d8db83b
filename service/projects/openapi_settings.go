package projects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

func viewOpenAPISettings(v models.Version) contract.SavedOpenAPISettings {
	return contract.SavedOpenAPISettings{OpenAPISettings: v.OpenAPISettings, ETag: digestOf(v.OpenAPISettings)}
}

// OpenAPISettings returns how the gateway uses the OpenAPI document of a version.
func (s *Service) OpenAPISettings(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (out contract.SavedOpenAPISettings, err error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return out, fmt.Errorf("projects: OpenAPI settings of %s: %w", in.Project, err)
	}
	version, err := versionOf(tx, project, in.Version)
	if err == nil {
		out = viewOpenAPISettings(version)
		out.Unchecked, _, err = unchecked(tx, version.ID)
	}
	if err != nil {
		return out, fmt.Errorf("projects: OpenAPI settings of version %s of %s: %w", in.Version, in.Project, err)
	}
	return out, nil
}

// unchecked returns what of the document of a version requests are not checked against, and whether there is one.
func unchecked(tx *models.Tx, version string) (found []contract.Unchecked, there bool, err error) {
	row, err := tx.OpenAPISummaryOf(version)
	if errors.Is(err, models.ErrNotFound) {
		return nil, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(row.Unchecked), &found)
	}
	return found, true, err
}

// SetOpenAPISettings changes how the gateway uses the OpenAPI document of a version, from the next call on.
func (s *Service) SetOpenAPISettings(
	ctx context.Context, p access.Principal, in contract.OpenAPISettingsUpdate,
) (out contract.SavedOpenAPISettings, err error) {
	says := &note{change: "set"}
	err = s.changeNoted(ctx, p, in.Project, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, in.Version)
		if err != nil {
			return err
		}
		says.object = "OpenAPI settings of version " + version.Name
		if err := access.Unchanged(in.IfMatch, viewOpenAPISettings(version).ETag); err != nil {
			return err
		}
		without, there, err := unchecked(tx, version.ID)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(CheckOpenAPISettings("", in.Body, there)); err != nil {
			return err
		}
		seen := version.UpdatedAt
		version.OpenAPISettings, version.UpdatedAt = in.Body, now
		out = viewOpenAPISettings(version)
		out.Unchecked = without
		return orStale(tx.UpdateVersionOpenAPI(version, seen))
	})
	return out, err
}

// CheckOpenAPISettings returns the mistakes, below a pointer, in the settings of a version with or without a document.
func CheckOpenAPISettings(prefix string, in contract.OpenAPISettings, hasDocument bool) (wrong []fault.Field) {
	refuse := func(member, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: prefix + member, Code: code, Detail: detail})
	}
	switch in.Validation {
	case contract.ValidationOff:
	case contract.ValidationReport, contract.ValidationEnforce:
		if !hasDocument {
			refuse("/validation", "no_openapi_document", "The version has no OpenAPI document to validate requests "+
				"against. Import one first.")
		}
	default:
		refuse("/validation", "invalid_validation", "Use off, report or enforce.")
	}
	switch in.Publication {
	case contract.PublicationOff, contract.PublicationCallers, contract.PublicationPublic:
	default:
		refuse("/publication", "invalid_publication", "Use off, callers or public.")
	}
	return wrong
}

// stopValidating turns the validation of a version off, which has no document any more.
func stopValidating(tx *models.Tx, version models.Version, now time.Time) error {
	if version.OpenAPISettings.Validation == contract.ValidationOff {
		return nil
	}
	seen := version.UpdatedAt
	version.OpenAPISettings.Validation, version.UpdatedAt = contract.ValidationOff, now
	return orStale(tx.UpdateVersionOpenAPI(version, seen))
}
