package keys

import (
	"context"
	"fmt"
	"slices"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Filter selects keys. A zero field selects all.
type Filter struct {
	Owner       string
	State       string // active, frozen, revoked or expired
	Tenant      string // name
	KeyType     string // name
	Environment string // name, or all for keys that open all
	Text        string // a part of what is shown of the key, or of its description
}

func (f Filter) check() error {
	states := []string{"", string(snapshot.KeyActive), string(snapshot.KeyFrozen), string(snapshot.KeyRevoked), Expired}
	if slices.Contains(states, f.State) {
		return nil
	}
	return fault.InvalidField("/state", "invalid_state", "Use active, frozen, revoked or expired.")
}

func (f Filter) rows() models.KeyFilter {
	return models.KeyFilter{
		Owner:       f.Owner,
		State:       f.State,
		Tenant:      f.Tenant,
		KeyType:     f.KeyType,
		Environment: f.Environment,
		Text:        f.Text,
		Now:         models.Now(),
	}
}

// List returns the keys that open a project, newest first: its own, and those of
// its product that were created in other projects.
func (s *Service) List(
	ctx context.Context, p access.Principal, project string, f Filter, page models.Page,
) (models.List[Key], error) {
	list, err := s.list(ctx, p, project, f, page)
	if err != nil {
		return models.List[Key]{}, fmt.Errorf("keys: list of %s: %w", project, err)
	}
	return list, nil
}

func (s *Service) list(
	ctx context.Context, p access.Principal, project string, f Filter, page models.Page,
) (list models.List[Key], err error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.KeyRead)
	if err != nil {
		return list, err
	}
	if err := f.check(); err != nil {
		return list, err
	}
	rows, err := tx.KeysListed(parent, f.rows(), page)
	if err != nil {
		return list, err
	}
	labels, err := labelsOf(tx, parent.TeamID, rows.Items...)
	if err != nil {
		return list, err
	}
	return models.MapList(rows, labels.view), nil
}

// Count counts the keys that List lists, up to models.MaxTotal+1.
func (s *Service) Count(ctx context.Context, p access.Principal, project string, f Filter) (int64, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.KeyRead)
	if err == nil {
		err = f.check()
	}
	var n int64
	if err == nil {
		n, err = tx.CountKeysListed(parent, f.rows())
	}
	if err != nil {
		return 0, fmt.Errorf("keys: count those of %s: %w", project, err)
	}
	return n, nil
}

// ActiveCounts returns the number of active keys of each project, by project id, up to models.MaxActiveKeys+1. It
// returns
// an error if the caller may not read the keys of one of the projects.
func (s *Service) ActiveCounts(ctx context.Context, p access.Principal, projectIDs []string) (map[string]int64, error) {
	tx := s.DB.Read(ctx)
	if err := access.Projects(tx, p, projectIDs, access.KeyRead); err != nil {
		return nil, fmt.Errorf("keys: count active ones: %w", err)
	}
	counts, err := tx.CountActiveKeys(projectIDs, models.Now())
	if err != nil {
		return nil, fmt.Errorf("keys: count active ones: %w", err)
	}
	return counts, nil
}
