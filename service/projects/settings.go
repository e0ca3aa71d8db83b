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

// Settings is what UpdateSettings can change; nil leaves a field as it is.
type Settings struct {
	DisplayName   *string
	FallbackOwner *string
	Product       *string // name of a product of the team; "" for none
	Limits        contract.ProjectLimitsChange
}

// UpdateSettings changes a project. With ifMatch not empty the change is refused as stale
// unless that is still the project's ETag, or the one of its settings.
func (s *Service) UpdateSettings(
	ctx context.Context, p access.Principal, ref, ifMatch string, in Settings,
) (Project, error) {
	var out Project
	says := &note{change: "settings"}
	says.then = func(_ *models.Tx, after Project) error {
		out = after
		return nil
	}
	err := s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		if err := access.Unchanged(ifMatch, says.before.ETag, says.before.SettingsETag); err != nil {
			return err
		}
		seen := project.UpdatedAt
		wrong, err := in.apply(tx, &project)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		project.UpdatedAt = now
		return written(tx.UpdateProject(project, seen))
	})
	return out, err
}

// apply sets the project's settings, and returns the fields that are wrong.
func (in Settings) apply(tx *models.Tx, project *models.Project) ([]fault.Field, error) {
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
	if in.Product == nil {
		return wrong, nil
	}
	project.ProductID = nil
	if *in.Product == "" {
		return wrong, nil
	}
	product, err := tx.ProductByName(project.TeamID, *in.Product)
	if errors.Is(err, models.ErrNotFound) {
		return append(wrong, fault.Field{
			Pointer: "/product",
			Code:    "unknown_product",
			Detail:  fmt.Sprintf("The project's team has no product %q. Create it first.", *in.Product),
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
