package projects

import (
	"context"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Bounds on the transforms of a version.
const (
	maxHeaderChanges  = 50 // entries of an operation
	maxChangedHeader  = 100
	maxTransformValue = 1000 // bytes
)

func viewTransforms(v models.Version) contract.SavedTransforms {
	return contract.SavedTransforms{Transforms: v.Transforms, ETag: digestOf(v.Transforms)}
}

// Transforms returns the changes to a version's requests and responses.
func (s *Service) Transforms(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.SavedTransforms, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.SavedTransforms{}, fmt.Errorf("projects: transforms of %s: %w", in.Project, err)
	}
	version, err := versionOf(tx, project, in.Version)
	if err != nil {
		return contract.SavedTransforms{}, fmt.Errorf("projects: transforms of version %s of %s: %w", in.Version,
			in.Project, err)
	}
	return viewTransforms(version), nil
}

// SetTransforms replaces the transforms of a version, from the next call on.
func (s *Service) SetTransforms(
	ctx context.Context, p access.Principal, in contract.TransformsUpdate,
) (out contract.SavedTransforms, err error) {
	says := &note{change: "set"}
	err = s.changeNoted(ctx, p, in.Project, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, in.Version)
		if err != nil {
			return err
		}
		says.object = "transforms of version " + version.Name
		if err := access.Unchanged(in.IfMatch, viewTransforms(version).ETag); err != nil {
			return err
		}
		transforms := snapshot.TransformsOf(in.Body)
		wrong := CheckTransforms("", &transforms)
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		seen := version.UpdatedAt
		version.Transforms, version.UpdatedAt = transforms.Stated(), now
		out = viewTransforms(version)
		return orStale(tx.UpdateVersionTransforms(version, seen))
	})
	return out, err
}
