package directory_test

import (
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/testkit/state"
)

// tenantFixture is one tenant with the groups staff and, which staff is in, company.
type tenantFixture struct {
	t  *testing.T
	db *models.DB
}

const tenant = "tnt_1"

func newTenantFixture(t *testing.T, db *models.DB) *tenantFixture {
	t.Helper()
	h, now := &tenantFixture{t, db}, models.Now()
	team := "team_1"
	h.write(func(tx *models.Tx) error {
		return tx.Insert(&models.Team{
			ID:        team,
			CreatedAt: now,
		}, &models.Tenant{ID: tenant, TeamID: &team, Name: "main", CreatedAt: now, UpdatedAt: now},
			&models.UserGroup{ID: "grp_staff", TenantID: tenant, Name: "staff", CreatedAt: now, UpdatedAt: now},
			&models.UserGroup{ID: "grp_company", TenantID: tenant, Name: "company", CreatedAt: now, UpdatedAt: now},
			&models.GroupGroup{ParentID: "grp_company", ChildID: "grp_staff", CreatedAt: now})
	})
	return h
}

func (h *tenantFixture) write(fn func(*models.Tx) error) {
	h.t.Helper()
	if err := h.db.Write(h.t.Context(), fn); err != nil {
		h.t.Fatal(err)
	}
}

func (h *tenantFixture) invitesOnly(approvals ...models.Approval) {
	h.t.Helper()
	h.write(func(tx *models.Tx) error {
		if err := tx.Insert(&models.SignupPolicy{
			TenantID:   tenant,
			InviteOnly: true,
			UpdatedAt:  models.Now(),
		}); err != nil {
			return err
		}
		for i := range approvals {
			approvals[i].ID, approvals[i].TenantID, approvals[i].CreatedAt = models.NewID("pre"), tenant, models.Now()
			if err := tx.Insert(&approvals[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func identity(subject, email string, verified bool) directory.ExternalIdentity {
	return directory.ExternalIdentity{
		Tenant:        tenant,
		Provider:      "idp_1",
		Issuer:        "oidc:https://idp.example",
		Subject:       subject,
		Email:         email,
		EmailVerified: verified,
		Name:          "Ana",
	}
}

// speakingFor is an identity whose provider is authoritative for the domain.
func speakingFor(domain string, in directory.ExternalIdentity) directory.ExternalIdentity {
	in.Domain = domain
	return in
}

func (h *tenantFixture) provision(
	a directory.ExternalIdentity,
) (user models.EndUser, created bool, groups []string, err error) {
	h.t.Helper()
	err = h.db.Write(h.t.Context(), func(tx *models.Tx) error {
		if user, created, err = directory.Provision(tx, a, models.Now()); err != nil {
			return err
		}
		groups, err = directory.GroupsOf(tx, user.ID)
		return err
	})
	return user, created, groups, err
}

func TestProvision_userBySubject(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		first, created, _, err := h.provision(identity("1", "ana@example.com", true))
		if err != nil || !created {
			t.Fatalf("%v, %v", created, err)
		}
		again, created, _, err := h.provision(identity("1", "new@example.com", true))
		if err != nil || created || again.ID != first.ID || again.Email != "new@example.com" {
			t.Errorf("again it is %+v, %v, %v", again, created, err)
		}
		silent, _, _, err := h.provision(identity("1", "", false))
		if err != nil || silent.Email != "new@example.com" {
			t.Errorf("without an address it is %+v, %v", silent, err)
		}
		other := identity("1", "ana@example.com", true)
		other.Issuer = "oidc:https://other.example"
		if otherUser, created, _, err := h.provision(other); err != nil || !created || otherUser.ID == first.ID {
			t.Errorf("the same subject at another issuer is %+v, %v, %v", otherUser, created, err)
		}
	})
}

func TestInviteOnly_invitations(t *testing.T) {
	tests := map[string]struct {
		who    directory.ExternalIdentity
		groups []string // nil: refused
	}{
		"approved by address": {identity("1", "ana@example.com", true), []string{"company", "staff"}},
		"approved by domain": {
			speakingFor("corp.example", identity("2", "bo@corp.example", true)), []string{},
		},
		"a provider that is none's":         {identity("9", "bo@corp.example", true), nil},
		"a provider of another domain":      {speakingFor("evil.example", identity("9", "bo@corp.example", true)), nil},
		"an address that is not verified":   {identity("3", "ana@example.com", false), nil},
		"no address":                        {identity("4", "", false), nil},
		"another domain":                    {identity("5", "eve@evil.example", true), nil},
		"a domain below":                    {identity("6", "eve@sub.corp.example", true), nil},
		"a domain that ends alike":          {identity("7", "eve@evilcorp.example", true), nil},
		"another domain, quoted before one": {identity("8", `"x@corp.example"@evil.example`, true), nil},
	}
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		h.invitesOnly(models.Approval{
			Kind:   contract.ByEmail,
			Value:  "ana@example.com",
			Groups: []string{"grp_staff", "grp_of_another_tenant"},
		},
			models.Approval{Kind: contract.ByDomain, Value: "corp.example", Groups: []string{}})
		for name, tt := range tests {
			_, created, groups, err := h.provision(tt.who)
			if tt.groups == nil {
				if fault.CodeOf(err) != "not_invited" {
					t.Errorf("%s: %v, %v", name, created, err)
				}
				continue
			}
			if err != nil || !created || !slices.Equal(groups, tt.groups) {
				t.Errorf("%s: groups %v, %v", name, groups, err)
			}
		}
	})
}

func TestSignIn_frozen(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		user, _, _, err := h.provision(identity("1", "ana@example.com", true))
		if err != nil {
			t.Fatal(err)
		}
		user.State = directory.Frozen
		h.write(func(tx *models.Tx) error { return tx.UpdateEndUser(user) })
		if _, _, _, err := h.provision(identity("1", "ana@example.com", true)); fault.CodeOf(err) != "user_frozen" {
			t.Errorf("a frozen user signs in: %v", err)
		}
	})
}

// Groups that are nested in a circle, which the admin API refuses, still end.
func TestGroups_cycle(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		h.write(func(tx *models.Tx) error {
			return tx.Insert(&models.GroupGroup{ParentID: "grp_staff", ChildID: "grp_company", CreatedAt: models.Now()})
		})
		user, _, _, err := h.provision(identity("1", "", false))
		if err != nil {
			t.Fatal(err)
		}
		h.write(func(tx *models.Tx) error {
			return tx.AddGroupMembers([]models.GroupMember{{
				GroupID:   "grp_staff",
				UserID:    user.ID,
				Role:      "member",
				CreatedAt: models.Now(),
			}})
		})
		if _, _, groups, err := h.provision(identity("1", "", false)); err != nil ||
			!slices.Equal(groups, []string{"company", "staff"}) {
			t.Errorf("groups %v, %v", groups, err)
		}
	})
}
