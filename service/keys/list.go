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

// Filter chooses keys; what is empty chooses all.
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

// Page is one page of a list; Next is the cursor of the one after, "" at the end.
type Page struct {
	Keys []Key
	Next string
}

// List returns the keys that open a project, newest first: its own, and those of
// its product that were made in other projects. The cursor is the Next of the page
// before, limit at most MaxPage, 0 for DefaultPage.
func (s *Service) List(
	ctx context.Context, p access.Principal, project string, f Filter, cursor string, limit int,
) (Page, error) {
	page, err := s.list(ctx, p, project, f, cursor, limit)
	if err != nil {
		return Page{}, fmt.Errorf("keys: list of %s: %w", project, err)
	}
	return page, nil
}

func (s *Service) list(
	ctx context.Context, p access.Principal, project string, f Filter, cursor string, limit int,
) (page Page, err error) {
	if limit <= 0 {
		limit = DefaultPage
	}
	limit = min(limit, MaxPage)
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.KeyRead)
	if err != nil {
		return page, err
	}
	if err := f.check(); err != nil {
		return page, err
	}
	rows, err := tx.KeysListed(parent, f.rows(), cursor, limit+1)
	if err != nil {
		return page, err
	}
	if len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].ID
	}
	labels, err := labelsOf(tx, parent.TeamID, rows...)
	for _, row := range rows {
		page.Keys = append(page.Keys, labels.view(row))
	}
	return page, err
}

// Count counts the keys that List lists.
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

// ActiveCounts counts the active keys of each project, named by its id. It is
// refused as a whole when one of them may not be seen.
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
