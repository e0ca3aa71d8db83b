package projects

import (
	"context"
	"fmt"
	"time"

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

// Transforms are the changes to a version's requests and responses.
type Transforms struct {
	snapshot.Transforms

	Version string // name
	ETag    string
}

func viewTransforms(v models.Version) Transforms {
	out := Transforms{Transforms: compileTransforms(v.Transforms), Version: v.Name}
	out.ETag = digest(out.Transforms)
	return out
}

func compileTransforms(row models.Transforms) snapshot.Transforms {
	return snapshot.Transforms{
		Request:     snapshot.Changes(row.Request),
		Query:       snapshot.Changes(row.Query),
		RequestBody: snapshot.Changes(row.RequestBody),
		Response:    snapshot.Changes(row.Response),
		ResponseBody: snapshot.BodyChanges{
			Changes: snapshot.Changes(row.ResponseBody),
			Types:   snapshot.ChangeTypes(row.ResponseTypes),
		},
	}
}

// TransformRows returns the row of transforms.
func TransformRows(of snapshot.Transforms) models.Transforms {
	return models.Transforms{
		Request:       models.Changes(of.Request),
		Query:         models.Changes(of.Query),
		RequestBody:   models.Changes(of.RequestBody),
		Response:      models.Changes(of.Response),
		ResponseBody:  models.Changes(of.ResponseBody.Changes),
		ResponseTypes: models.ChangeTypes(of.ResponseBody.Types),
	}
}

// Transforms returns the changes to a version's requests and responses.
func (s *Service) Transforms(ctx context.Context, p access.Principal, ref, versionRef string) (Transforms, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return Transforms{}, fmt.Errorf("projects: transforms of %s: %w", ref, err)
	}
	version, err := versionOf(tx, project, versionRef)
	if err != nil {
		return Transforms{}, fmt.Errorf("projects: transforms of version %s of %s: %w", versionRef, ref, err)
	}
	return viewTransforms(version), nil
}

// SetTransforms replaces the transforms of a version, from the next call on. With ifMatch not empty it
// is refused as stale unless that is still the ETag.
func (s *Service) SetTransforms(
	ctx context.Context, p access.Principal, ref, versionRef, ifMatch string, in snapshot.Transforms,
) (Transforms, error) {
	var out Transforms
	says := &note{change: "set"}
	err := s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, versionRef)
		if err != nil {
			return err
		}
		says.object = "transforms of version " + version.Name
		if err := access.Unchanged(ifMatch, viewTransforms(version).ETag); err != nil {
			return err
		}
		wrong := CheckTransforms("", &in)
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		seen := version.UpdatedAt
		version.Transforms, version.UpdatedAt = TransformRows(in), now
		out = viewTransforms(version)
		return written(tx.UpdateVersionTransforms(version, seen))
	})
	return out, err
}
