package access_test

import (
	"testing"

	"postern/access"
	"postern/fault"
)

// The matrix is written out so that a change of the table has to be made twice.
func TestMatrix(t *testing.T) {
	golden := map[access.Role]string{
		access.Owner:     "yyyyyyyyyy" + "yyyyyyyy",
		access.Member:    "yyyyyyyyyy" + "ynynynnn",
		access.Workspace: "yyyyyyyyyy" + "ynnnnnnn",
		access.Viewer:    "ynnynnynny" + "ynynynnn",
		"":               "nnnnnnnnnn" + "nnnnnnnn",
		"stranger":       "nnnnnnnnnn" + "nnnnnnnn",
	}
	for role, want := range golden {
		got := ""
		for _, action := range access.Actions() {
			if access.Can(role, action) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", role, got, want)
		}
	}
}

func TestCheckHidesWhatIsElsewhere(t *testing.T) {
	viewer := access.Principal{Account: "acc_1", Roles: map[string]access.Role{"team_a": access.Viewer}}
	tests := []struct {
		who    access.Principal
		team   string
		action access.Action
		want   fault.Kind
	}{
		{access.Principal{}, "team_a", access.ProjectRead, fault.Unauthenticated},
		{viewer, "team_b", access.ProjectRead, fault.NotFound},
		{viewer, "team_a", access.KeyCreate, fault.Forbidden},
	}
	for _, tt := range tests {
		if err := access.Check(tt.who, tt.team, tt.action); err == nil || fault.KindOf(err) != tt.want {
			t.Errorf("%v in %s: got %v", tt.action, tt.team, err)
		}
	}
	if err := access.Check(viewer, "team_a", access.ProjectRead); err != nil {
		t.Errorf("a viewer may not read: %v", err)
	}
}
