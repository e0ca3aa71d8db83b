package controlplane

import (
	"errors"
	"net/http"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/service/login"
	"postern/service/webhooks"
)

func (o *Fixture) NewTeamOwner(t *testing.T) access.Principal {
	t.Helper()
	team := models.Team{ID: models.NewID("team"), Name: "Shop", CreatedAt: models.Now()}
	team.ClaimedAt = &team.CreatedAt
	err := o.DB.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) })
	if err != nil {
		t.Fatal(err)
	}
	return access.Principal{Account: "acc_1", Roles: map[string]access.Role{team.ID: access.Owner}, HomeTeam: team.ID}
}

// CreateAppClient gives a project an app client with a provider.
func (o *Fixture) CreateAppClient(t *testing.T, project string) (tenant, client, provider string) {
	t.Helper()
	tenants, err := o.DB.Read(t.Context()).TenantsOf(project)
	if err != nil || len(tenants) == 0 {
		t.Fatalf("tenants of %s: %v, %v", project, tenants, err)
	}
	name, app := "web", "app"
	made, err := o.Server.Login.CreateClient(t.Context(), o.Principal, tenants[0].ID, login.ClientInput{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	offer, err := o.Server.Login.CreateProvider(t.Context(), o.Principal, made.ID, login.ProviderInput{
		Type:     "google",
		ClientID: &app,
	})
	if err != nil {
		t.Fatal(err)
	}
	return tenants[0].ID, made.ID, offer.ID
}

// webhook makes a webhook of the team, with a delivery that has arrived.
func (o *Fixture) createWebhook(t *testing.T) (hook, delivery string, err error) {
	t.Helper()
	made, _, err := o.Server.Webhooks.Create(t.Context(), o.Principal, webhooks.CreateInput{
		Team: o.Team,
		URL:  "http://8.8.8.8/hook",
	})
	at := models.Now()
	sent := models.WebhookDelivery{
		ID:         models.NewID("msg"),
		WebhookID:  made.ID,
		Event:      webhooks.KeyCreated,
		Payload:    "{}",
		State:      webhooks.Delivered,
		CreatedAt:  at,
		FinishedAt: &at,
	}
	return made.ID, sent.ID, errors.Join(
		err, o.DB.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&sent) }),
	)
}

// InstallationAudit is the log of what belongs to no team.
func (o *Fixture) InstallationAudit(t *testing.T) []models.AuditEntry {
	t.Helper()
	entries, err := o.DB.Read(t.Context()).AuditOf("", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// KeepSession keeps the owner's session when an answer gives it another secret.
func (o *Fixture) KeepSession(got Response) {
	for _, cookie := range (&http.Response{Header: got.Header}).Cookies() {
		if cookie.Name == "postern" {
			o.Owner = []string{"Cookie", "postern=" + cookie.Value}
		}
	}
}
