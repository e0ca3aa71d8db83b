package directory_test

import (
	"context"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
	"postern/testkit"
	"postern/testkit/state"
)

type world struct {
	*directory.Service
	owner, viewer, stranger access.Principal
	team, project, tenant   string
	told                    int
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now}
	project := models.Project{
		ID:            models.NewID("prj"),
		TeamID:        team.ID,
		Name:          "shop",
		FallbackOwner: "shop",
		CreatedAt:     now,
		UpdatedAt:     now,
	}
	tenant := models.Tenant{ID: models.NewID("tnt"), TeamID: &team.ID, Name: "acme", CreatedAt: now, UpdatedAt: now}
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		return tx.Insert(
			&team, &project, &tenant,
			&models.ProjectTenant{ProjectID: project.ID, TenantID: tenant.ID, CreatedAt: now},
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{team: team.ID, project: project.ID, tenant: tenant.ID,
		owner: access.Principal{
			Account:  "acc_1",
			HomeTeam: team.ID,
			Roles:    map[string]access.Role{team.ID: access.Owner},
		},
		viewer: access.Principal{
			Account:  "acc_2",
			HomeTeam: team.ID,
			Roles:    map[string]access.Role{team.ID: access.Viewer},
		},
		stranger: access.Principal{
			Account:  "acc_3",
			HomeTeam: "team_x",
			Roles:    map[string]access.Role{"team_x": access.Owner},
		}}
	w.Service = &directory.Service{DB: db, Changed: func(context.Context) { w.told++ }}
	return w
}

func must[T any](t *testing.T) func(T, error) T {
	return func(out T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func ref[T any](v T) *T { return &v }

func (w *world) user(t *testing.T, email string, groups ...string) string {
	t.Helper()
	return must[contract.User](t)(
		w.CreateUser(t.Context(), w.owner, contract.NewUser{Email: email, Groups: groups}.In(w.tenant)),
	).ID
}

func (w *world) group(t *testing.T, name string) string {
	t.Helper()
	return must[contract.Group](t)(
		w.CreateGroup(t.Context(), w.owner, contract.NewGroup{Name: name}.In(w.tenant)),
	).ID
}

// provision is a sign-in with a provider that is authoritative for example.com.
func (w *world) provision(t *testing.T, email string, verified bool) (models.EndUser, error) {
	t.Helper()
	var user models.EndUser
	err := w.DB.Write(t.Context(), func(tx *models.Tx) (err error) {
		user, _, err = directory.Provision(
			tx,
			directory.ExternalIdentity{
				Tenant:        w.tenant,
				Issuer:        "https://id.example",
				Subject:       email,
				Email:         email,
				EmailVerified: verified,
				Domain:        "example.com",
			},
			models.Now(),
		)
		return err
	})
	return user, err
}

func (w *world) revisions(t *testing.T) int64 {
	t.Helper()
	return must[models.Revision](t)(w.DB.Read(t.Context()).LastRevision()).ID
}

func is(t *testing.T, err error, code string) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func (w *world) viewerOf() access.Principal { return w.viewer }

// inviteOnly closes the tenant to users who are not invited or approved.
func (w *world) inviteOnly(ctx context.Context, p access.Principal) (contract.SignupPolicy, error) {
	return w.UpdateSignupPolicy(ctx, p, contract.SignupPolicyUpdate{
		TenantPath: contract.TenantPath{Tenant: w.tenant}, Body: contract.SignupPolicyChange{InviteOnly: new(true)},
	})
}

func TestInviteOnly_approved(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		must[contract.SignupPolicy](t)(w.inviteOnly(t.Context(), w.owner))
		_, err := w.provision(t, "ana@example.com", true)
		is(t, err, "not_invited")
		in := contract.NewApproval{Value: " Example.com", Groups: []string{"staff", staff}}.In(w.tenant)
		approval := must[contract.Approval](t)(w.CreateApproval(t.Context(), w.owner, in))
		if approval.Kind != contract.ByDomain || approval.Value != "example.com" {
			t.Errorf("%+v", approval)
		}
		if !slices.Equal(approval.Groups, []string{staff}) {
			t.Errorf("groups by name and ID: %q, want %q once", approval.Groups, staff)
		}
		many := contract.NewApproval{Value: "example.org", Groups: slices.Repeat([]string{"none"}, 100_000)}
		_, err = w.CreateApproval(t.Context(), w.owner, many.In(w.tenant))
		is(t, err, "too_many_groups")
		in.Body.Kind = contract.ByDomain
		_, err = w.CreateApproval(t.Context(), w.owner, in)
		is(t, err, "approved_already")
		_, err = w.provision(t, "ana@example.com", false)
		is(t, err, "not_invited")
		ana := must[models.EndUser](t)(w.provision(t, "ana@example.com", true))
		got := must[contract.User](t)(w.User(t.Context(), w.owner, contract.UserPath{User: ana.ID}))
		if len(got.Groups) != 1 {
			t.Errorf("%+v", got)
		}
		change := contract.ApprovalUpdate{
			ApprovalPath: contract.ApprovalOf(w.tenant, approval.ID),
			Condition:    contract.Condition{IfMatch: approval.ETag},
			Body:         contract.ApprovalChange{Groups: &[]string{"grp_none"}},
		}
		_, err = w.UpdateApproval(t.Context(), w.owner, change)
		is(t, err, "unknown_group")
		change.Body.Groups = &[]string{}
		changed := must[contract.Approval](t)(w.UpdateApproval(t.Context(), w.owner, change))
		if len(changed.Groups) != 0 || changed.ETag == approval.ETag {
			t.Errorf("%+v", changed)
		}
		_, err = w.UpdateApproval(t.Context(), w.owner, change)
		is(t, err, "changed_concurrently")
		cleo := must[models.EndUser](t)(w.provision(t, "cleo@example.com", true))
		got = must[contract.User](t)(w.User(t.Context(), w.owner, contract.UserPath{User: cleo.ID}))
		if len(got.Groups) != 0 {
			t.Errorf("after the change: %+v", got)
		}
		must[contract.None](t)(w.DeleteApproval(t.Context(), w.owner, change.ApprovalPath))
		_, err = w.provision(t, "bob@example.com", true)
		is(t, err, "not_invited")
		at := contract.TenantPath{Tenant: w.tenant}
		policy := must[contract.SignupPolicy](t)(w.SignupPolicy(t.Context(), w.viewer, at))
		if !policy.InviteOnly {
			t.Errorf("%+v", policy)
		}
		_, err = w.Approval(t.Context(), w.viewer, change.ApprovalPath)
		is(t, err, "not_found")
	})
}

// Every rule asks first, and every change leaves one entry that says what changed.
func TestChange_permissionAndAudit(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		ctx := t.Context()
		user, spare := w.user(t, "ana@example.com"), w.user(t, "bob@example.com")
		group, inner, last := w.group(t, "staff"), w.group(t, "inner"), w.group(t, "last")
		approval := must[contract.Approval](t)(
			w.CreateApproval(ctx, w.owner, contract.NewApproval{Value: "eve@example.com"}.In(w.tenant)),
		)
		for name, change := range testkit.ByName(map[string]func(access.Principal) error{
			"freeze": func(p access.Principal) error {
				_, err := w.Freeze(ctx, p, contract.UserPath{User: user})
				return err
			},
			"update": func(p access.Principal) error {
				_, err := w.UpdateUser(ctx, p, contract.UserUpdate{
					UserPath: contract.UserPath{User: user}, Body: contract.UserChange{Name: ref("Ana")},
				})
				return err
			},
			"delete": func(p access.Principal) error {
				_, err := w.DeleteUser(ctx, p, contract.UserPath{User: spare})
				return err
			},
			"create": func(p access.Principal) error {
				_, err := w.CreateUser(ctx, p, contract.NewUser{Email: "zoe@example.com"}.In(w.tenant))
				return err
			},
			"group": func(p access.Principal) error {
				_, err := w.CreateGroup(ctx, p, contract.NewGroup{Name: "new-ones"}.In(w.tenant))
				return err
			},
			"provision a group": func(p access.Principal) error {
				in := directory.GroupInput{GroupChange: contract.GroupChange{DisplayName: ref("Provisioned")}}
				_, err := w.ProvisionGroup(ctx, p, w.tenant, in, nil)
				return err
			},
			"rename": func(p access.Principal) error {
				_, err := w.UpdateGroup(ctx, p, contract.GroupUpdate{
					GroupPath: contract.GroupPath{Group: group}, Body: contract.GroupChange{DisplayName: ref("Staff")},
				})
				return err
			},
			"member": func(p access.Principal) error {
				_, err := w.SetMember(ctx, p, contract.InGroup(group, user).As("member"))
				return err
			},
			"nest": func(p access.Principal) error {
				_, err := w.Nest(ctx, p, contract.Nested(group, inner))
				return err
			},
			"replace": func(p access.Principal) error {
				_, err := w.ReplaceGroup(ctx, p, inner, "", directory.Replacement{Add: []string{user}})
				return err
			},
			"deletegroup": func(p access.Principal) error {
				_, err := w.DeleteGroup(ctx, p, contract.GroupPath{Group: last})
				return err
			},
			"inviteonly": func(p access.Principal) error {
				_, err := w.inviteOnly(ctx, p)
				return err
			},
			"approve": func(p access.Principal) error {
				_, err := w.CreateApproval(ctx, p, contract.NewApproval{Value: "example.net"}.In(w.tenant))
				return err
			},
			"disapprove": func(p access.Principal) error {
				_, err := w.DeleteApproval(ctx, p, contract.ApprovalOf(w.tenant, approval.ID))
				return err
			},
		}) {
			is(t, change(access.Principal{}), "credentials_required")
			is(t, change(w.viewer), "not_allowed")
			is(t, change(w.stranger), "not_found")
			before := must[[]models.AuditEntry](t)(db.Read(ctx).AuditOf(w.team, 1000))
			if err := change(w.owner); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			after := must[[]models.AuditEntry](t)(db.Read(ctx).AuditOf(w.team, 1000))
			if len(after) != len(before)+1 {
				t.Errorf("%s left %d entries", name, len(after)-len(before))
				continue
			}
			if entry := newest(before, after); len(entry.Changes) == 0 || entry.Action != "user.update" ||
				entry.Object == "" {
				t.Errorf("%s: %+v", name, entry)
			}
		}
	})
}

func newest(before, after []models.AuditEntry) models.AuditEntry {
	known := map[string]bool{}
	for _, e := range before {
		known[e.ID] = true
	}
	for _, e := range after {
		if !known[e.ID] {
			return e
		}
	}
	return models.AuditEntry{}
}
