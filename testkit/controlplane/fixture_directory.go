package controlplane

import (
	"testing"

	"postern/service/directory"
)

// directoryOf furnishes a tenant with a user, two groups and an approval.
func (o *Fixture) createDirectory(t *testing.T, has *Objects, needs string) {
	t.Helper()
	ctx, rules := t.Context(), o.Server.Directory
	user, err := rules.CreateUser(ctx, o.Principal, has.Tenant, directory.NewUser{Email: "ana@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for into, name := range map[*string]string{&has.group: "staff", &has.child: "inner"} {
		made, err := rules.CreateGroup(ctx, o.Principal, has.Tenant, directory.GroupInput{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		*into = made.ID
	}
	approval, err := rules.Approve(ctx, o.Principal, has.Tenant, directory.NewApproval{
		Kind:  "email",
		Value: "eve@example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	has.user, has.approval = user.ID, approval.ID
	switch needs {
	case "frozen user":
		_, err = rules.Freeze(ctx, o.Principal, has.user)
	case "member":
		_, err = rules.SetMember(ctx, o.Principal, has.group, has.user, directory.RoleMember)
	case "nested":
		_, err = rules.Nest(ctx, o.Principal, has.group, has.child)
	}
	if err != nil {
		t.Fatal(err)
	}
}
