package access_test

import (
	"strings"
	"testing"

	"postern/platform/fault"
	"postern/service/access"
)

// The matrix is written out so that a change of the table has to be made twice.
func TestMatrix(t *testing.T) {
	golden := map[access.Role]string{
		access.Owner:     "yyyyyyyyyyyyyyyyyyyyyyyy" + "yyyyyyyyy" + "yyyy" + "y" + "yyyyy",
		access.Member:    "yyyyynnyyyyyyyyyyyyyyyyy" + "ynnynynnn" + "yyyy" + "y" + "yyyyn",
		access.Workspace: "yyyyynnnyyyyyyynyynnyyyy" + "ynnnnnnnn" + "yyyy" + "n" + "yyyyn",
		access.Viewer:    "ynnnnnnnynnynynnnyynynyn" + "ynnynynnn" + "ynnn" + "n" + "ynnnn",
		"":               "nnnnnnnnnnnnnnnnnnnnnnnn" + "nnnnnnnnn" + "nnnn" + "n" + "nnnnn",
		"stranger":       "nnnnnnnnnnnnnnnnnnnnnnnn" + "nnnnnnnnn" + "nnnn" + "n" + "nnnnn",
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

func TestCheck_otherTeam(t *testing.T) {
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

// A token's rights are the intersection of its scopes and its account's role.
func TestScopes(t *testing.T) {
	golden := map[access.Scope]string{
		// In order: projects, keys, exports, audit, usage, webhooks, logins, users; teams, products, host names,
		// tenants; then what is the account's own: claim and teams, the account, tokens.
		access.ScopeRead:   "ynnnnnnn ynn nnnnn n y nn yn nn ynnynnnnn ynnn n ynnnn nnn nnnnn nnnnnn",
		access.ScopeWrite:  "nyyyynny nnn nnnnn n n nn ny nn nnnnnnnnn nyyy y nyyyn ynn nnnnn nnnnnn",
		access.ScopeKeys:   "nnnnnnnn nyy nnnnn n n nn nn nn nnnnnnnnn nnnn n nnnnn nnn nnnnn nnnnnn",
		access.ScopeExport: "nnnnnnnn nnn yyyyy n n nn nn nn nnnnnnnnn nnnn n nnnnn nnn nnnnn nnnnnn",
		access.ScopeUsers:  "nnnnnnnn nnn nnnnn n n nn nn yy nnnnnnnnn nnnn n nnnnn nnn nnnnn nnnnnn",
		access.ScopeAdmin:  "nnnnnyyn nnn nnnnn y n yy nn nn nyynyyyyy nnnn n nnnny nyy nnnny yyyynn",
		"":                 "nnnnnnnn nnn nnnnn n n nn nn nn nnnnnnnnn nnnn n nnnnn nnn nnnnn nnnnnn",
		"stranger":         "nnnnnnnn nnn nnnnn n n nn nn nn nnnnnnnnn nnnn n nnnnn nnn nnnnn nnnnnn",
	}
	for scope, groups := range golden {
		want := strings.ReplaceAll(groups, " ", "")
		got := ""
		for _, action := range append(access.Actions(), access.Personal()...) {
			if access.Covers([]access.Scope{scope}, action) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", scope, got, want)
		}
	}
	if len(golden) != len(access.Scopes())+2 {
		t.Errorf("%d scopes are written out of %d", len(golden)-2, len(access.Scopes()))
	}
}

func TestCheck_tokenScopes(t *testing.T) {
	for _, action := range access.Actions() {
		for _, role := range []access.Role{access.Owner, access.Member, access.Viewer} {
			for _, scope := range append(access.Scopes(), "") {
				p := access.Principal{
					Account: "acc_1",
					Roles:   map[string]access.Role{"team_a": role},
					Scoped:  true,
					Scopes:  []access.Scope{scope},
				}
				err := access.Check(p, "team_a", action)
				if want := access.Can(role, action) && access.Covers(p.Scopes, action); (err == nil) != want {
					t.Errorf("%s with the scope %q and %s: %v", role, scope, action, err)
				}
				if err := access.Check(p, "team_b", action); fault.KindOf(err) != fault.NotFound {
					t.Errorf("%s elsewhere: %v", action, err)
				}
			}
		}
	}
	if err := access.CheckSelf(access.Principal{
		Account: "acc_1",
		Scoped:  true,
	}, access.TokenCreate); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a token without scopes may make tokens: %v", err)
	}
}
