package controlplane

import (
	"context"
	"errors"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/appclients"
	"postern/service/directory"
)

// CreateAppClient creates an app client with a provider in the project's first tenant.
func (o *Fixture) CreateAppClient(t testing.TB, project string) (tenant, client, provider string) {
	t.Helper()
	tenants, err := o.DB.Read(t.Context()).TenantsOf(project)
	if err != nil || len(tenants) == 0 {
		t.Fatalf("tenants of %s: %v, %v", project, tenants, err)
	}
	tenant = tenants[0].ID
	app := "app"
	created, err := o.Server.AppClients.CreateClient(
		t.Context(), o.Principal, contract.NewAppClient{Name: "web"}.In(tenant),
	)
	must(t, err)
	google, err := o.Server.AppClients.CreateProvider(t.Context(), o.Principal, contract.NewProvider{
		Type:             "google",
		ProviderSettings: contract.ProviderSettings{ClientID: &app},
	}.In(created.ID))
	must(t, err)
	return tenant, created.ID, google.ID
}

// createDirectory creates a user, two groups and an approval in the tenant.
func (o *Fixture) createDirectory(t testing.TB, has *Objects, needs string) {
	t.Helper()
	ctx, service := t.Context(), o.Server.Directory
	user, err := service.CreateUser(ctx, o.Principal, contract.NewUser{Email: "ana@example.com"}.In(has.Tenant))
	must(t, err)
	for _, group := range []struct {
		id   *string
		name string
	}{{&has.group, "staff"}, {&has.child, "inner"}} {
		created, err := service.CreateGroup(ctx, o.Principal, contract.NewGroup{Name: group.name}.In(has.Tenant))
		must(t, err)
		*group.id = created.ID
	}
	eve := contract.NewApproval{Value: "eve@example.com"}
	approval, err := service.CreateApproval(ctx, o.Principal, eve.In(has.Tenant))
	must(t, err)
	has.user, has.approval = user.ID, approval.ID
	switch needs {
	case "frozen user":
		_, err = service.Freeze(ctx, o.Principal, contract.UserPath{User: has.user})
	case "member":
		_, err = service.SetMember(ctx, o.Principal, contract.InGroup(has.group, has.user).As(directory.RoleMember))
	case "group owner":
		_, err = service.SetOwner(ctx, o.Principal, contract.GroupOwnership{
			GroupPath: contract.GroupPath{Group: has.group},
			Body:      contract.NewGroupOwner{Owner: "billing", Role: directory.RoleMember},
		})
	case "nested":
		_, err = service.Nest(ctx, o.Principal, contract.Nested(has.group, has.child))
	}
	must(t, err)
}

// createWebhook creates a webhook of the team with a delivery that arrived. It is deleted after the test: a team can
// have only so many.
func (o *Fixture) createWebhook(t testing.TB) (hook, delivery string, err error) {
	t.Helper()
	in := contract.NewWebhook{Team: o.Team, URL: "http://8.8.8.8/hook"}
	created, err := o.Server.Webhooks.Create(t.Context(), o.Principal, contract.WebhookCreation{Body: in})
	now := models.Now()
	sent := models.WebhookDelivery{
		ID:         models.NewID("msg"),
		WebhookID:  created.ID,
		Event:      contract.EventKeyCreated,
		Payload:    "{}",
		State:      contract.DeliveryDelivered,
		CreatedAt:  now,
		FinishedAt: &now,
	}
	err = errors.Join(err, o.DB.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&sent) }))
	t.Cleanup(func() {
		must(t, o.DB.Write(context.WithoutCancel(t.Context()), func(tx *models.Tx) error {
			return tx.DeleteWebhook(created.ID)
		}))
	})
	return created.ID, sent.ID, err
}

// createGroupMapping adds a rule that puts users into the group, and returns its id.
func (o *Fixture) createGroupMapping(t testing.TB, provider, group string) string {
	t.Helper()
	rule := contract.GroupMapping{Claim: "hd", Match: contract.MatchExact, Value: "example.com", Group: group}
	set, err := o.Server.AppClients.AddGroupMapping(t.Context(), o.Principal, provider, rule)
	must(t, err)
	return appclients.MappingID(set.Mappings[0].GroupMapping)
}
