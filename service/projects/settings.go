package projects

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// Update changes a project. It is refused as stale unless the condition is still the project's ETag, or the one of its
// settings.
func (s *Service) Update(
	ctx context.Context, p access.Principal, in contract.ProjectUpdate,
) (contract.Project, error) {
	var out contract.Project
	says := &note{change: "settings"}
	says.then = func(_ *models.Tx, after Project) error {
		out = after.Project
		return nil
	}
	change := func(tx *models.Tx, project models.Project, now time.Time) error {
		if err := access.Unchanged(in.IfMatch, says.before.ETag, says.before.SettingsETag); err != nil {
			return err
		}
		seen := project.UpdatedAt
		wrong, err := applySettings(tx, in.Body, &project)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		project.UpdatedAt = now
		return orStale(tx.UpdateProject(project, seen))
	}
	err := s.changeNoted(ctx, p, in.Project, says, change)
	return out, err
}

// applySettings sets the project's settings, and returns the fields that are wrong.
func applySettings(tx *models.Tx, in contract.ProjectChange, project *models.Project) ([]fault.Field, error) {
	wrong := changeLimits(in.Limits, &project.Limits)
	if in.DisplayName != nil {
		project.DisplayName = *in.DisplayName
		wrong = append(wrong, checkDisplayName(project.DisplayName)...)
		if project.DisplayName == "" {
			project.DisplayName = project.Name
		}
	}
	if in.FallbackOwner != nil {
		project.FallbackOwner = *in.FallbackOwner
		wrong = append(wrong, checkFallbackOwner(project.FallbackOwner)...)
	}
	if !in.Product.Sent {
		return wrong, nil
	}
	project.ProductID = nil
	name := in.Product.Or("")
	if name == "" {
		return wrong, nil
	}
	product, err := tx.ProductByName(project.TeamID, name)
	if errors.Is(err, models.ErrNotFound) {
		return append(wrong, fault.Field{
			Pointer: "/product",
			Code:    "unknown_product",
			Detail:  fmt.Sprintf("The project's team has no product %q. Create it first.", name),
		}), nil
	}
	if err != nil {
		return nil, err
	}
	project.ProductID = &product.ID
	return wrong, nil
}

func changeLimits(in contract.ProjectLimitsChange, to *contract.ProjectLimits) (wrong []fault.Field) {
	for _, l := range []struct {
		name   string
		limits *contract.Limits
		into   *contract.Limits
	}{
		{"key", in.Key, &to.Key},
		{"owner", in.Owner, &to.Owner},
		{"ip", in.IP, &to.IP},
		{"project", in.Project, &to.Project},
	} {
		if l.limits != nil {
			wrong = append(wrong, keys.CheckLimits("/limits/"+l.name, *l.limits)...)
			*l.into = *l.limits
		}
	}
	return wrong
}
