package keys

import (
	"context"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

func filterOf(in contract.KeyList) (models.KeyFilter, error) {
	states := []string{"", contract.KeyActive, contract.KeyFrozen, contract.KeyRevoked, contract.KeyExpired}
	if !slices.Contains(states, in.State) {
		return models.KeyFilter{}, fault.InvalidField("/state", "invalid_state",
			"Use active, frozen, revoked or expired.")
	}
	return models.KeyFilter{
		Owner:       in.Owner,
		State:       in.State,
		Tenant:      in.Tenant,
		KeyType:     in.KeyType,
		Environment: in.Environment,
		Text:        in.Text,
		Now:         models.Now(),
	}, nil
}

// List returns the keys that are valid for a project, newest first by default: its own, and its product's keys that
// were created in other projects.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.KeyList,
) (models.List[contract.Key], error) {
	list, err := s.list(ctx, p, in)
	if err != nil {
		return list, fmt.Errorf("keys: list keys of %s: %w", in.Project, err)
	}
	return list, nil
}

func (s *Service) list(
	ctx context.Context, p access.Principal, in contract.KeyList,
) (list models.List[contract.Key], err error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, in.Project, access.KeyRead)
	if err != nil {
		return list, err
	}
	filter, err := filterOf(in)
	if err != nil {
		return list, err
	}
	rows, err := tx.KeysListed(parent, filter, models.PageOf(in.Page, in.Sort, ""))
	if err != nil {
		return list, err
	}
	labels, err := labelsOf(tx, parent.TeamID, rows.Items...)
	if err != nil {
		return list, err
	}
	return models.MapList(rows, labels.view), nil
}

// CountOfType counts the keys of a type that List lists, up to models.MaxTotal+1.
func (s *Service) CountOfType(ctx context.Context, p access.Principal, project, keyType string) (int64, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.KeyRead)
	var n int64
	if err == nil {
		n, _, err = tx.CountKeysOfType(parent, keyType, models.Now())
	}
	if err != nil {
		return 0, fmt.Errorf("keys: count keys of type %s in %s: %w", keyType, project, err)
	}
	return n, nil
}

// ActiveCounts returns the number of active keys of each project, by project ID, up to models.MaxActiveKeys+1. It
// returns an error if the caller may not read the keys of one of the projects.
func (s *Service) ActiveCounts(ctx context.Context, p access.Principal, projectIDs []string) (map[string]int64, error) {
	tx := s.DB.Read(ctx)
	if err := access.Projects(tx, p, projectIDs, access.KeyRead); err != nil {
		return nil, fmt.Errorf("keys: count active keys: %w", err)
	}
	counts, err := tx.CountActiveKeys(projectIDs, models.Now())
	if err != nil {
		return nil, fmt.Errorf("keys: count active keys: %w", err)
	}
	return counts, nil
}
