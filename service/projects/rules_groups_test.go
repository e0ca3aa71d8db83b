package projects_test

import (
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/projects"
	"postern/testkit/state"
)

// A group that no tenant has is likely mistyped: its rule refuses everyone.
func TestRules_unknownGroups(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h, name := newLoginProject(t, db), "staff"
		_, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: name}.In(h.tenant))
		if err != nil {
			t.Fatal(err)
		}
		groups := []string{"staff", "stuff"}
		saved := h.setRules(t, one(snapshot.Rule{Methods: []string{"GET"}, Path: "/", Groups: groups}))
		read, err := h.Rules(t.Context(), h.owner, firstVersion(h.project))
		if err != nil {
			t.Fatal(err)
		}
		for when, of := range map[string]contract.SavedRules{"saved": saved, "read": read} {
			var got []contract.Warning
			for _, warning := range of.Warnings {
				if warning.Code == projects.WarnUnknownGroup {
					got = append(got, warning)
				}
			}
			if len(got) != 1 || !strings.Contains(got[0].Detail, "the group stuff,") {
				t.Errorf("%s: %+v", when, got)
			}
		}
	})
}
