package projects_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

// The rules of an unclaimed project are bounded in all its versions together, also where a version is copied.
func TestSetRules_quota(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		project := created.Project.ID
		rules := func(n int) snapshot.Rules {
			var out snapshot.Rules
			for i := range n {
				path := fmt.Sprintf("/%d", i) + strings.Repeat("/a", 9)
				out.List = append(out.List, snapshot.Rule{Methods: []string{"GET"}, Path: path})
			}
			return out
		}
		set := func(n int) string {
			_, err := w.SetRules(t.Context(), owner, rulesUpdate(project, "", rules(n)))
			return fault.CodeOf(err)
		}
		if code := set(401); code != "workspace_full" {
			t.Errorf("4,010 segments: code %q", code)
		}
		if code := set(400); code != "" {
			t.Errorf("4,000 segments: code %q", code)
		}
		_, err := w.CreateVersion(t.Context(), owner, contract.NewVersion{Name: "2.0.0"}.In(project))
		if code := fault.CodeOf(err); code != "workspace_full" {
			t.Errorf("a copy of them: code %q", code)
		}
		if code := set(200); code != "" {
			t.Errorf("2,000 segments: code %q", code)
		}
		if _, err := w.CreateVersion(t.Context(), owner, contract.NewVersion{Name: "2.0.0"}.In(project)); err != nil {
			t.Errorf("a copy of half of them: %v", err)
		}
	})
}
